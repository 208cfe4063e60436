"""A client of any OpenAI-compatible chat endpoint: concurrent, patient, and with a cache on disk.

Every answer is kept under the digest of model and prompt, so a run that was broken off asks only what is missing. A refused
key, an unreachable endpoint and an unknown model end the run at once with a sentence that says what to do; a busy endpoint
is tried again, after the time it names.
"""
import email.utils
import hashlib
import http.client
import json
import random
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

TRIES = 6
LONGEST_WAIT = 60.0
MOST_TOKENS = 64


class Refused(Exception):
    """An error that asking again cannot cure; its text is for the user."""


class Cache:
    """Answers by digest, in a file of JSON lines that only grows."""

    def __init__(self, path):
        self.path, self.lock, self.answers = Path(path), threading.Lock(), {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # the last line of a run that was broken off
                self.answers[record["key"]] = record

    @staticmethod
    def key(model, prompt):
        """Returns the digest that an answer is kept under."""
        return hashlib.sha256(json.dumps([model, prompt, MOST_TOKENS]).encode()).hexdigest()

    def get(self, key):
        """Returns the kept answer, or None."""
        return self.answers.get(key)

    def put(self, key, answer, tokens):
        """Keeps an answer; it is on disk when this returns."""
        record = {"key": key, "answer": answer, "tokens": tokens}
        with self.lock:
            self.answers[key] = record
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        return record


class Client:
    """One endpoint and model."""

    def __init__(self, endpoint, model, key, key_name, cache, sleep=time.sleep):
        endpoint = endpoint.rstrip("/")
        self.url = endpoint if endpoint.endswith("/chat/completions") else endpoint + "/chat/completions"
        self.model, self.key, self.key_name, self.cache, self.sleep = model, key, key_name, cache, sleep
        self.requests = 0

    def ask(self, prompt):
        """Returns the record of a prompt's answer, from the cache or from the endpoint."""
        key = Cache.key(self.model, prompt)
        kept = self.cache.get(key)
        if kept is not None:
            return kept
        reply = self.post({"model": self.model, "messages": [{"role": "user", "content": prompt}], "temperature": 0, "max_tokens": MOST_TOKENS})
        try:
            answer = reply["choices"][0]["message"]["content"] or ""
        except (KeyError, IndexError, TypeError):
            raise Refused(f"{self.url} answered without choices[0].message.content: {json.dumps(reply)[:200]}") from None
        return self.cache.put(key, answer, (reply.get("usage") or {}).get("prompt_tokens"))

    def post(self, body):
        """Sends a request, and again after a pause where that may help; raises Refused where it cannot."""
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        problem = ""
        for attempt in range(TRIES):
            self.requests += 1
            request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
            try:
                with urllib.request.urlopen(request, timeout=180) as reply:
                    return json.loads(reply.read())
            except urllib.error.HTTPError as error:
                problem = f"status {error.code}: {message_of(error)}"
                self.stop_at(error.code, problem)
                pause = pause_of(error.headers.get("Retry-After"), attempt)
            except urllib.error.URLError as error:
                if attempt >= 2:
                    raise Refused(f"{self.url} cannot be reached: {error.reason}; check --endpoint") from None
                problem, pause = str(error.reason), pause_of(None, attempt)
            except (OSError, http.client.HTTPException, ValueError) as error:
                problem, pause = f"the reply broke off: {error}", pause_of(None, attempt)
            if attempt < TRIES - 1:
                self.sleep(pause)
        raise Refused(f"{self.url} gave no answer in {TRIES} tries; the last one: {problem}")

    def stop_at(self, status, problem):
        """Raises Refused for a status that asking again cannot cure."""
        if status in (401, 403):
            given = f"the key in {self.key_name}" if self.key else f"a request without a key; set {self.key_name}"
            raise Refused(f"{self.url} refused {given} ({problem})")
        if status == 404:
            raise Refused(f"{self.url} does not know the model {self.model!r}, or is no chat endpoint ({problem})")
        if 400 <= status < 500 and status not in (408, 409, 425, 429):
            raise Refused(f"{self.url} refused the request ({problem})")


def message_of(error):
    """Returns what an error's body says, shortened."""
    try:
        text = error.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return ""
    try:
        found = json.loads(text)
        found = found.get("error", found) if isinstance(found, dict) else found
        text = found.get("message", text) if isinstance(found, dict) else str(found)
    except ValueError:
        pass
    return " ".join(str(text).split())[:200]


def pause_of(retry_after, attempt):
    """Returns the seconds to wait: what Retry-After says, in seconds or as a date, else twice as long each time."""
    if retry_after:
        try:
            return min(LONGEST_WAIT, max(0.0, float(retry_after)))
        except ValueError:
            date = email.utils.parsedate_to_datetime(retry_after)
            if date is not None:
                return min(LONGEST_WAIT, max(0.0, date.timestamp() - time.time()))
    return min(LONGEST_WAIT, 2.0**attempt * random.uniform(0.5, 1.0))


def ask_all(client, prompts, concurrency, progress):
    """Asks all prompts (key, text), so many at a time; returns {key: record}. The first Refused ends it."""
    found, lock = {}, threading.Lock()
    stopped = threading.Event()

    def one(key, text):
        if stopped.is_set():
            return
        record = client.ask(text)
        with lock:
            found[key] = record
            progress(len(found))

    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        futures = [pool.submit(one, key, text) for key, text in prompts]
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        stopped.set()
        for future in done:
            future.result()
    return found
