"""Markers, code and addresses, which look the same in every language."""

from __future__ import annotations

from .base import COMMAND, EXFILTRATION, MARKER, OVERRIDE, Rule

MARKUP = [
    Rule(
        COMMAND,
        ("ki", "ia", " ai", "assist", "asist", "model", "chatbot", "ии", "ассист"),
        r"(?:^|[.!?:\n(\"'*#-]\s*)(?:lieb(?:e[rs]?)|hallo|hey|achtung|an die|cher|chere|querid[oa]|estimad[oa]"
        r"|prezad[oa]|car[oa]|ciao|hola|ola"
        r"|gentile|beste|kara|kare|kjaere|hej|hei|rakas|hyva|уважаем\w+|дорог\w+|drog[ai]|mily|mila|sevgili"
        r"|sayin|kedves|draga|attention|atencion"
        r"|atencao|attenzione|uwaga|pozor|внимание)\s+(?:\w+\s+)?(?:ki|ia|ai|assistent\w*|asistent\w*|assistant"
        r"|asistan\w*|modell?\w*|sprachmodell"
        r"|chatbot|ии|ассистент|неиросеть)\b\s*[,:!]",
    ),
    Rule(
        MARKER,
        (
            "<|",
            "|>",
            "[inst",
            "[/inst",
            "<<",
            "##",
            "[system",
            "[assistant",
            "[user",
            "[admin",
            "[developer",
            "[human",
            "【",
        ),
        r"#{2,}\s?\w+\s?#{2,}|<\|[^|<>]{1,40}\|>|\[/?inst\]|<</?sys>>|#{2,}\s*(?:instruction|system|response"
        r"|assistant|user|human|new task"
        r"|task|prompt|end)\s*(?::|$|\n|#)"
        r"|[\[【](?:/?system|assistant|/?user|human|admin|developer)(?:\s(?:message|note|prompt|instructions?|override"
        r"|notice))?[\]】]",
    ),
    Rule(
        MARKER,
        ("system", "assistant", "human", "developer", "user", "prompt", "instruction", "tool"),
        r"(?:^|[.!?\"”»)\]}>|\n]\s*|\s-{2,}\s*)(?:system|assistant|human|developer|user|ai|tool"
        r"|instructions?)(?: (?:message|prompt|note|override|notice|response|output"
        r"|result))?\s*(?:\([^)]{0,30}\))?\s*(?::|>{1,3}|=>)(?!/)"
        r"|(?:-{3,}|={3,}|\*{3,}|~{3,})\s*(?:begin|end|start|stop|system|new|instructions?|prompt|user|context)\b"
        r"|\b(?:end of|begin|end|start of) (?:(?:system|user|developer|assistant) )?(?:system prompt|prompt"
        r"|instructions|user input|user message|system message|context window|memories|memory block"
        r"|untrusted data)\b(?=\s*(?:$|[.:;\-–—=*#\]>)]))",
    ),
    Rule(
        MARKER,
        ("</", "<"),
        r"<(?!/?(?:b|i|u|em|strong|br|p|sup|sub|small|li|ul|ol|q|cite)\s*/?>)(?:\s*/\s*[a-z][^<>]{0,200}"
        r"|[a-z][\w:.-]*(?:\s+[\w:-]+\s*=[^<>]{0,200})?\s*/?"
        r"|(?:system|assistant|user|human|instruction|prompt|tool|function|memor|fact|recalled|earlier"
        r"|message)[^<>]{0,200})>|<!--|-->|\]\]>|<!\[cdata\[|<!doctype",
    ),
    Rule(MARKER, ("&lt;", "&#", "\\u003c", "%3c"), r"(?:&lt;?|&#(?:60|x3c);?|\\u003c|%3c)\s*/?\s*[a-z!|]"),
    Rule(MARKER, ("```", "~~~"), r"```|~~~"),
    Rule(
        MARKER,
        ("{", "(", "tool", "function", '"role"', "'role'"),
        r"[\"'](?:tool_?calls?|function_?call|tool_use|tool_name|tool_input|recipient_name|function)[\"']\s*:"
        r"|[\"']role[\"']\s*:\s*[\"']"
        r"|[\"'](?:name|tool|action)[\"']\s*:\s*[\"'][\w.-]+[\"']\s*,\s*[\"'](?:arguments|parameters|input|args|params"
        r"|action_input)[\"']"
        r"|\b[a-z]+(?:_[a-z]+)+\s*\(\s*(?:[\"'{\w)])|\{\{[^}]{1,60}\}\}|\{%|\$\{[^}]{1,60}\}|\$\([^)]{1,60}\)",
    ),
    Rule(
        MARKER,
        ("action:", "action input", "thought:", "observation:", "final answer:"),
        r"\baction\s*:\s*\S+\s+action input\s*:|\bfinal answer\s*:|\bthought\s*:.{0,80}\baction\s*:",
    ),
    Rule(
        MARKER,
        (
            "rm -rf",
            "sudo ",
            "curl ",
            "wget ",
            "os.system",
            "subprocess",
            "eval(",
            "exec(",
            "drop table",
            "import os",
            "powershell",
            "/etc/passwd",
            "document.cookie",
        ),
        r"\brm -rf\b|\bsudo \w+ |\b(?:curl|wget) (?:-|https?:)|os\.system|subprocess\.|\b(?:eval|exec)\("
        r"|\bdrop table\b|\bimport os\b|powershell -|/etc/passwd|document\.cookie",
    ),
    Rule(
        EXFILTRATION,
        ("![", "<img", "javascript:", "data:text", "data:image", "http", "onerror"),
        r"!\[[^\]]*\]\s*[(\[]|\bjavascript:(?=\S)|\bdata:(?:text|image)/|\bonerror\s*=|\]\(\s*https?://[^)]*(?:[?&#]"
        r"[^)]*=|\{|\[|<)"
        r"|https?://\S*[?&#/=](?:\{|\[|<|%7b|\$|%s|\*\*\*)"
        r"|https?://\S+[?&](?:q|data|d|info|secret|msg|message|text|content|token|payload|history|memory|user|log"
        r"|leak|c|x|exfil|s)=(?:$|[\s.\"')]|[a-z_]*(?:\.\.\.|…))",
    ),
    Rule(
        EXFILTRATION,
        ("http", "www.", "@"),
        r"(?:отправь|отправляи|пошли|перешли|загрузи|открои|schicke?|sende|leite|offne|ubertrage|envoie|envoyez"
        r"|transmets|transfere|ouvre|envia|enviar|manda|mande|envie|abre|invia|inoltra|apri|stuur|verzend|wyslij"
        r"|przeslij|otworz|gonder|ilet"
        r"|发送|發送|发给|上传|转发|访问|打开|送信|送って|アクセス|開いて|보내|전송|접속|أرسل|ارسل|افتح|भेज|खोल|kirim|buka|gui"
        r"|skicka).{0,80}?(?:https?://|www\.|[\w.+-]+@[\w-]+\.\w+)"
        r"|(?:https?://\S+|www\.\S+|[\w.+-]+@[\w-]+\.\w+).{0,40}?(?:发送|發送|送信|送って|アクセスして|보내|전송|भेज|gonder)",
    ),
    # Letters apart, joined again, have no blanks left.
    Rule(
        OVERRIDE,
        ("instructions", "systemprompt", "youarenow", "developermode", "anweisungen", "instrucciones", "previousrules"),
        r"^[^\s]*(?:ignore|disregard|forget|override)\S{0,20}(?:instructions|prompts?|rules)|^\S*(?:youarenow"
        r"|developermode|revealyour\S*|ignoriere\S{0,20}anweisungen|ignora\S{0,20}instrucciones)\S*$",
    ),
]
