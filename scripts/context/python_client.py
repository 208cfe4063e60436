#!/usr/bin/env python3
"""One official Python client: whole and streaming answers, and the error for an option that cannot be followed.

    python_client.py openai|anthropic|agents URL

Prints JSON: {"answers": {NAME: TEXT}, "counts": {PATH: TOKENS}, "refused": {NAME: [CLASS, MESSAGE]}}. URL is the server's, without /v1.
"""

import asyncio
import json
import sys

import conversation

MODEL = "gpt-4o"
CLAUDE = "claude-sonnet-4"
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


{"openai": openai, "anthropic": anthropic, "agents": agents}[sys.argv[1]](sys.argv[2])
print(json.dumps({"answers": ANSWERS, "counts": COUNTS, "refused": REFUSED}))
