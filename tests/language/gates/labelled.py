"""The labelled texts of this folder. Values that look like real keys are put together here, not kept in a file."""

from pathlib import Path

import yaml

VALUES = {
    "aws": "AKIA" + "IOSFODNN7EXAMPLF",
    "github": "ghp_" + "a1B2" * 9,
    "github_pat": "github_pat_" + "11ABCDEFG0" * 3,
    "openai": "sk-proj-" + "abcDEF123" * 5,
    "anthropic": "sk-ant-api03-" + "abcDEF12" * 5,
    "google": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "slack": "xoxb-" + "123456789012-123456789012-abcdefghijABCDEFGHIJ1234",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NSJ9." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9",
    "keepsake": "ks_" + "a1b2c3d4e5f6." + "Zx81kLmN02pQrStU44vWxYz",
    "gitlab": "glpat-" + "abcdEFGH1234ijklMNOP",
    "huggingface": "hf_" + "aBcD" * 9,
    "npm": "npm_" + "a1B2" * 9,
    "sendgrid": "SG." + "a" * 22 + "." + "b1" * 21 + "c",
    "telegram": "123456789:" + "AAF1" * 8 + "abc",
    "pem": "-----BEGIN RSA " + "PRIVATE KEY----- MIIEow",
    "openssh": "-----BEGIN OPENSSH " + "PRIVATE KEY----- b3Blbn",
}

PARTS = {"keepsake_secret": "Zx81kLmN02pQ" + "rStU44vWxYz-aB3_dE5gH7jK9mN2pQ4", "body": "aB3dE5gH7jK9" + "mN2pQ4rStU6v"}


def labelled(name):
    """What a YAML file of this folder holds, with the values put in."""
    return _filled(yaml.load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader))


def _filled(part):
    if isinstance(part, dict):
        return {key: _filled(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_filled(each) for each in part]
    for name, value in (VALUES | PARTS).items():
        part = part.replace("{" + name + "}", value)
    return part
