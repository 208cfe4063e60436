"""The conversations that the clients send, the same in every language: rows of a tool, and a question about them."""

import json

QUESTION = "How many rows are open?"
ANSWER = "There are forty open rows."
ROWS = [
    {"id": number, "state": "open", "title": f"Row {number} – Größe «{number * 7 % 13}»", "by": {"name": "ann", "team": "core"}}
    for number in range(40)
]
# As Python servers print it: indented, and only ASCII.
TEXT = json.dumps(ROWS, indent=2)


def fixtures():
    """What aimock answers: a call of the tool, and a sentence once it has the result."""
    call = {"toolCalls": [{"id": "call_rows", "name": "list_rows", "arguments": {"state": "open"}}]}
    return {
        "fixtures": [
            {"match": {"userMessage": QUESTION, "hasToolResult": False}, "response": call},
            {"match": {"userMessage": QUESTION, "hasToolResult": True}, "response": {"content": ANSWER}},
        ]
    }


def chat(turns=1, text=TEXT):
    rows = [{"role": "user", "content": QUESTION}]
    for turn in range(turns):
        call = {"id": f"call_{turn}", "type": "function", "function": {"name": "list_rows", "arguments": f'{{"page":{turn}}}'}}
        rows.append({"role": "assistant", "content": None, "tool_calls": [call]})
        rows.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": text if isinstance(text, str) else text(turn)})
    return rows


def messages(turns=1, text=TEXT):
    rows = [{"role": "user", "content": QUESTION}]
    for turn in range(turns):
        content = text if isinstance(text, str) else text(turn)
        rows.append({"role": "assistant", "content": [{"type": "tool_use", "id": f"toolu_{turn}", "name": "list_rows", "input": {"page": turn}}]})
        result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": [{"type": "text", "text": content}]}
        rows.append({"role": "user", "content": [result]})
    return rows


def responses(turns=1, text=TEXT):
    rows = [{"role": "user", "content": QUESTION}]
    for turn in range(turns):
        rows.append({"type": "function_call", "call_id": f"call_{turn}", "name": "list_rows", "arguments": f'{{"page":{turn}}}'})
        rows.append({"type": "function_call_output", "call_id": f"call_{turn}", "output": text if isinstance(text, str) else text(turn)})
    return rows


def contents(turns=1, text=TEXT):
    """Gemini's: the result is a text inside the response."""
    rows = [{"role": "user", "parts": [{"text": QUESTION}]}]
    for turn in range(turns):
        content = text if isinstance(text, str) else text(turn)
        rows.append({"role": "model", "parts": [{"functionCall": {"name": "list_rows", "args": {"page": turn}}}]})
        rows.append({"role": "user", "parts": [{"functionResponse": {"name": "list_rows", "response": {"output": content}}}]})
    return rows


def converse(turns=1, text=TEXT):
    """Bedrock's: the result is a text and a document."""
    rows = [{"role": "user", "content": [{"text": QUESTION}]}]
    for turn in range(turns):
        content = text if isinstance(text, str) else text(turn)
        rows.append({"role": "assistant", "content": [{"toolUse": {"toolUseId": f"tooluse_{turn}", "name": "list_rows", "input": {"page": turn}}}]})
        result = {"toolUseId": f"tooluse_{turn}", "content": [{"text": content}, {"json": {"rows": json.loads(content)}}]}
        rows.append({"role": "user", "content": [{"toolResult": result}]})
    return rows


def ollama(turns=1, text=TEXT):
    rows = [{"role": "user", "content": QUESTION}]
    for turn in range(turns):
        call = {"function": {"name": "list_rows", "arguments": {"page": turn}}}
        rows.append({"role": "assistant", "content": "", "tool_calls": [call]})
        rows.append({"role": "tool", "tool_name": "list_rows", "content": text if isinstance(text, str) else text(turn)})
    return rows
