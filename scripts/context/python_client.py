#!/usr/bin/env python3
"""One official Python client: whole and streaming answers, and the error for an option that cannot be followed.

    python_client.py openai|anthropic|agents|google-genai|boto3|ollama URL

Prints JSON: {"answers": {NAME: TEXT}, "counts": {PATH: TOKENS}, "refused": {NAME: [CLASS, MESSAGE]}}. URL is the server's, without /v1.
"""

import asyncio
import json
import sys

import conversation

MODEL = "gpt-4o"
CLAUDE = "claude-sonnet-4"
GEMINI = "gemini-2.5-flash"
BAD = {"_stc": {"mode": "best"}}
ANSWERS, COUNTS, REFUSED = {}, {}, {}


def refused(name, kind, call):
    try:
        call()
    except kind as error:
        REFUSED[name] = [type(error).__name__, str(error)]


def openai(url):
    import openai

    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    chat, items = conversation.chat(), conversation.responses()
    create = client.chat.completions.create
    ANSWERS["chat"] = create(model=MODEL, messages=chat).choices[0].message.content
    stream = create(model=MODEL, messages=chat, stream=True)
    ANSWERS["chat stream"] = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    ANSWERS["responses"] = client.responses.create(model=MODEL, input=items).output_text
    events = client.responses.create(model=MODEL, input=items, stream=True)
    ANSWERS["responses stream"] = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    COUNTS["responses/input_tokens"] = client.responses.input_tokens.count(model=MODEL, input=items).input_tokens
    refused("chat", openai.BadRequestError, lambda: create(model=MODEL, messages=chat, extra_body=BAD))
    refused("responses", openai.BadRequestError, lambda: client.responses.create(model=MODEL, input=items, extra_body=BAD))


def anthropic(url):
    import anthropic

    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    given = {"model": CLAUDE, "max_tokens": 100, "messages": conversation.messages()}
    ANSWERS["messages"] = client.messages.create(**given).content[0].text
    with client.messages.stream(**given) as stream:
        ANSWERS["messages stream"] = "".join(stream.text_stream)
    COUNTS["messages/count_tokens"] = client.messages.count_tokens(model=CLAUDE, messages=given["messages"]).input_tokens
    refused("messages", anthropic.BadRequestError, lambda: client.messages.create(**given, extra_body=BAD))


def agents(url):
    asyncio.run(run_agents(url))


async def run_agents(url):
    import openai
    from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
    from agents import set_tracing_disabled

    set_tracing_disabled(True)

    @function_tool
    def list_rows(state: str) -> str:
        """Lists rows."""
        return conversation.TEXT

    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    for name, model in [("chat", OpenAIChatCompletionsModel), ("responses", OpenAIResponsesModel)]:
        made = model(model=MODEL, openai_client=client)
        agent = Agent(name="a", tools=[list_rows], model=made)
        ANSWERS[name] = (await Runner.run(agent, conversation.QUESTION)).final_output
        streamed = Runner.run_streamed(agent, conversation.QUESTION)
        async for _ in streamed.stream_events():
            pass
        ANSWERS[f"{name} stream"] = streamed.final_output
        bad = Agent(name="b", tools=[list_rows], model=made, model_settings=ModelSettings(extra_body=BAD))
        try:
            await Runner.run(bad, conversation.QUESTION)
        except openai.BadRequestError as error:
            REFUSED[name] = [type(error).__name__, str(error)]


def google_genai(url):
    from google import genai
    from google.genai import errors, types

    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=url, api_version="v1beta"))
    rows = conversation.contents()
    ANSWERS["gemini"] = client.models.generate_content(model=GEMINI, contents=rows).text
    chunks = client.models.generate_content_stream(model=GEMINI, contents=rows)
    ANSWERS["gemini stream"] = "".join(chunk.text or "" for chunk in chunks)
    COUNTS[f"models/{GEMINI}:countTokens"] = client.models.count_tokens(model=GEMINI, contents=rows).total_tokens
    bad = types.GenerateContentConfig(http_options=types.HttpOptions(extra_body=BAD))
    refused("gemini", errors.ClientError, lambda: client.models.generate_content(model=GEMINI, contents=rows, config=bad))


def boto3(url):
    import os

    import boto3
    import botocore.exceptions

    def client(**more):
        config = botocore.config.Config(retries={"total_max_attempts": 1})
        return boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config, **more)

    os.environ["AWS_BEARER_TOKEN_BEDROCK"] = "none"
    bearer = client()
    given = {"modelId": "anthropic.claude-3-haiku-20240307-v1:0", "messages": conversation.converse()}
    ANSWERS["bedrock"] = bearer.converse(**given)["output"]["message"]["content"][0]["text"]
    # aimock opens a block of text with an empty `start`, which the SDK refuses when it maps events to its types; so the events
    # are taken as the SDK's reader of frames returns them.
    frames = bearer.converse_stream(**given)["stream"]._create_raw_event_generator()
    events = [json.loads(frame.payload) for frame in frames if frame.headers.get(":event-type") == "contentBlockDelta"]
    ANSWERS["bedrock stream"] = "".join(event.get("contentBlockDelta", event)["delta"]["text"] for event in events)
    # The SDK has no place for members of its own in a body, so the option is a header.
    bad = client()
    bad.meta.events.register("before-call.bedrock-runtime.Converse", lambda params, **_: params["headers"].update({"X-STC-Mode": "best"}))
    refused("bedrock", botocore.exceptions.ClientError, lambda: bad.converse(**given))
    # Signed with SigV4: a changed body would be refused.
    del os.environ["AWS_BEARER_TOKEN_BEDROCK"]
    signed = client(aws_access_key_id="key", aws_secret_access_key="secret")
    ANSWERS["bedrock signed"] = signed.converse(**given)["output"]["message"]["content"][0]["text"]


def ollama(url):
    import ollama

    client = ollama.Client(host=url)
    given = {"model": "llama3", "messages": conversation.ollama()}
    ANSWERS["ollama"] = client.chat(**given).message.content
    ANSWERS["ollama stream"] = "".join(part.message.content or "" for part in client.chat(**given, stream=True))
    bad = ollama.Client(host=url, headers={"X-STC-Mode": "best"})
    refused("ollama", ollama.ResponseError, lambda: bad.chat(**given))


CLIENTS = {"openai": openai, "anthropic": anthropic, "agents": agents, "google-genai": google_genai, "boto3": boto3, "ollama": ollama}
CLIENTS[sys.argv[1]](sys.argv[2])
print(json.dumps({"answers": ANSWERS, "counts": COUNTS, "refused": REFUSED}))
