"""Checks the history of a deployment by docs/history.md alone: its own RFC 8785, SHA-256 and fold, no code of Orrery.

    ORRERY_KEY=orrery_… python3 examples/verification/verify_history.py http://127.0.0.1:3000 WORLD DEPLOYMENT
    python3 examples/verification/verify_history.py --folder FOLDER DEPLOYMENT

World and deployment are addresses (0x…). The folder has, for each deployment, `<address>/deployment.json`, `journal.json`
and, to compare with, `instances.json`: what `orrery deployments get`, `orrery history list --include all --all` and
`orrery instances list --all` print with `--json`.

    … --checkpoint FILE --key HOST+ID+KEY

also holds the history to a checkpoint that was kept, as `GET …/head` answered it, signed by the operator's public key. That
takes the package `cryptography`; all else is of the standard library. Executions are not decided again here.

It ends with 0 for a history that holds, with 1 for one that does not, and prints what it found as JSON. It ends with 2 where it
could not check: nothing could be read, or the package is missing.
"""

import argparse
import base64
import hashlib
import hmac
import json
import math
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

COVERED = (
    "v deployment id seq kind event eventVersion versionHash trigger caller status input changes result error llmHash "
    "attestation paymentKey executedAt prevHash"
).split()
ADDED = "decidedAt evaluator timers cause depth readHistoryHash randomness replayOf".split()
PAGE = 40


class Broken(Exception):
    """The history does not hold."""


def check(holds, what):
    if not holds:
        raise Broken(what)


# RFC 8785: the one text of a JSON value


def canonical(value) -> str:
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{text(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return number(value)
    return text(value) if isinstance(value, str) else json.dumps(value)


def text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """As ECMAScript writes it: the shortest digits, an exponent from 1e21 on and below 1e-6."""
    check(math.isfinite(value), "a number is not finite")
    if value == 0:
        return "0"
    digits, _, power = repr(abs(value)).partition("e")
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    # The value is 0.DIGITS × 10^point.
    point = len(whole) + int(power or 0)
    digits = whole + fraction
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    if len(digits) <= point <= 21:
        written = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        written = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        written = "0." + "0" * -point + digits
    else:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        written = f"{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"-{written}" if value < 0 else written


def parse(source):
    """Numbers are doubles, as in JavaScript: what is whole and exact stays a whole number here."""
    whole = lambda digits: int(digits) if abs(int(digits)) < 2**53 and digits != "-0" else float(digits)
    exact = lambda digits: int(float(digits)) if float(digits).is_integer() and abs(float(digits)) < 2**53 else float(digits)
    return json.loads(source, parse_int=whole, parse_float=exact)


def sha256(source: str) -> str:
    return digest(source.encode("utf-8")).hex()


def digest(source: bytes) -> bytes:
    return hashlib.sha256(source).digest()


# Where a deployment is read


class Server:
    def __init__(self, base, world, key):
        self.base, self.world, self.key = base.rstrip("/"), world, key

    def get(self, address, path="", **query):
        url = f"{self.base}/api/worlds/{self.world}/deployments/{address}{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(url, headers={"authorization": f"Bearer {self.key}"})
        for tries in range(10):
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return parse(answer.read())
            except urllib.error.HTTPError as error:
                # Where the server is asked too often, it says when it may be asked again.
                if error.code != 429 or tries == 9:
                    raise
                waiting = error.headers.get("retry-after", "1")
                time.sleep(min(int(waiting) if waiting.isdigit() else 1, 60))

    def deployment(self, address):
        return self.get(address)["data"]

    def journal(self, address):
        entries, more = [], {}
        while True:
            page = self.get(address, "/history", include="all", limit=PAGE, **more)["data"]
            entries += page
            if len(page) < PAGE:
                return entries[::-1]
            more = {"after": page[-1]["seq"]}

    def instances(self, address):
        found, more = [], {}
        while True:
            answer = self.get(address, "/entity-instances", orderBy="id", limit=100, **more)
            found += answer["data"]
            if answer["pagination"]["next"] is None:
                return found
            more = {"cursor": answer["pagination"]["next"]}


class Folder:
    def __init__(self, folder):
        self.folder = folder

    def read(self, address, name):
        with open(os.path.join(self.folder, address, f"{name}.json"), encoding="utf-8") as file:
            return parse(file.read())

    def deployment(self, address):
        return self.read(address, "deployment")

    def journal(self, address):
        return sorted(self.read(address, "journal"), key=lambda entry: entry["seq"])

    def instances(self, address):
        return self.read(address, "instances")


# The chain and the fold


class History:
    """
    What a journal has led to: states and revisions by schema and instanceId, the hashes, and the seeds. States are None for a
    clone whose source cannot be read: its chain holds or not, what it began with is not known.
    """

    def __init__(self, deployment, states, previous):
        self.deployment, self.states, self.previous = deployment, states, previous
        self.hashes, self.seeds = [], Seeds()

    def follow(self, entry):
        seq = len(self.hashes) + 1
        check(entry["seq"] == seq, f"entry {seq} is missing")
        check(entry["prevHash"] == self.previous, f"entry {seq} does not carry the hash of the one before it")
        check(entry["deployment"] == self.deployment, f"entry {seq} is of another deployment")
        self.previous = hash_of(entry)
        check(self.previous == entry["hash"], f"the hash of entry {seq} does not cover it")
        self.hashes.append(self.previous)
        self.seeds.follow(entry)
        if self.states is not None:
            for change in entry["changes"]:
                apply(self.states, change, seq)


def fold(reader, address, until=math.inf):
    """The history after entry `until`."""
    record = reader.deployment(address)
    deployment, source = record["address"], record["source"]
    check(deployment == address.lower(), "what was read is of another deployment")
    states = snapshot(reader, source) if source else {}
    history = History(deployment, states, sha256(canonical({"deployment": deployment, "source": source})))
    for entry in reader.journal(deployment):
        if entry["seq"] > until:
            break
        history.follow(entry)
    seq = len(history.hashes)
    check(until == math.inf or seq == until, f"entry {seq + 1} is missing")
    return history


def hash_of(entry) -> str:
    added = [name for name in ADDED if name in entry]
    check(entry["v"] == 2 or (entry["v"] == 1 and not added), f"entry {entry['seq']} is of another version")
    return sha256(canonical({name: entry[name] for name in COVERED + added}))


def apply(states, change, seq):
    key = (change["entitySchema"], change["instanceId"])
    check((key in states) == (change["op"] != "create"), f"entry {seq} cannot {change['op']} {':'.join(key)}")
    state, revision = states.get(key, ({}, 0))
    check(change["revision"] == revision + 1, f"entry {seq} has not the next revision of {':'.join(key)}")
    if change["op"] == "delete":
        del states[key]
        return
    removed = set(change["unset"])
    merged = {**state, **change["set"]}
    states[key] = ({name: value for name, value in merged.items() if name not in removed}, revision + 1)


def snapshot(reader, source):
    """What a clone begins with: its source as it was then. None where the source, or that of the source, cannot be read."""
    try:
        states = fold(reader, source["address"], source["seq"]).states
    except (FileNotFoundError, urllib.error.HTTPError) as error:
        if getattr(error, "code", 404) not in (403, 404):
            raise
        return None
    if states is None:
        return None
    check(digest_of(states) == source["snapshotHash"], "the clone began with something else than its source was")
    return {key: (state, 1) for key, (state, _) in states.items()}


def digest_of(states) -> str:
    in_bytes = sorted(states, key=lambda key: (key[0].encode("utf-8"), key[1].encode("utf-8")))
    lines = [
        canonical({"entitySchema": schema, "instanceId": instance, "state": states[schema, instance][0]}) + "\n"
        for schema, instance in in_bytes
    ]
    return sha256("".join(lines))


def compare(states, instances):
    shown = {(one["entitySchema"], one["instanceId"]): (one["state"], one["revision"]) for one in instances}
    for key in sorted(set(states) | set(shown)):
        what = f"{':'.join(key)} is not what its changes say"
        check(key in states and key in shown and canonical(list(states[key])) == canonical(list(shown[key])), what)


# Random numbers: what the seeds of draws are made of


class Seeds:
    """Holds seeds to what the journal has committed to and revealed. What is not revealed yet is counted."""

    def __init__(self):
        self.waiting, self.checked, self.unchecked = {}, 0, 0

    def follow(self, entry):
        facts = entry["input"] if isinstance(entry.get("input"), dict) else {}
        if entry["kind"] == "randomness_committed":
            self.waiting.setdefault(facts["commitment"], [])
        elif entry["kind"] == "randomness_revealed":
            for told in facts["secrets"]:
                self.reveal(told["commitment"], bytes.fromhex(told["secret"]))
        elif "randomness" in entry:
            self.draw(entry["randomness"], entry)

    def draw(self, randomness, entry):
        source, seq = randomness["source"], entry["seq"]
        if source == "deployment":
            open_now = self.waiting.get(randomness["commitment"])
            check(open_now is not None, f"entry {seq} draws from a secret that is not committed to, or is told already")
            open_now.append(entry)
        elif source == "drand":
            # Whether the beacon has signed it takes BLS12-381, which this program has not.
            self.unchecked += 1
            check(seed_of(digest(bytes.fromhex(randomness["signature"])), entry) == randomness["seed"], WRONG_SEED % seq)
        else:
            self.unchecked += 1
            check("replayOf" in entry, f"entry {seq} repeats no other one")

    def reveal(self, commitment, secret):
        drawn = self.waiting.get(commitment)
        if drawn is None or digest(secret).hex() != commitment:
            return
        for entry in drawn:
            check(seed_of(secret, entry) == entry["randomness"]["seed"], WRONG_SEED % entry["seq"])
        self.checked += len(drawn)
        self.waiting[commitment] = None

    def counts(self):
        unrevealed = sum(len(drawn) for drawn in self.waiting.values() if drawn)
        return {"checked": self.checked, "unrevealed": unrevealed, "unchecked": self.unchecked}


WRONG_SEED = "the seed of entry %d is not made of what it names"


def seed_of(secret: bytes, entry) -> str:
    text_of_run = entry["randomness"]["run"] + sha256(canonical(entry["input"]))
    return hmac.new(secret, text_of_run.encode("utf-8"), "sha256").hexdigest()


# Checkpoints: RFC 6962 trees and C2SP signed notes


def hold_to(history, note, key):
    """The history begins with what a checkpoint covers, which the key has signed."""
    body, _, signatures = note.partition("\n\n")
    origin, size, root, *_ = body.split("\n")
    check(signed(f"{body}\n", signatures, key), "the key has not signed the checkpoint")
    check(origin.split("/")[-2] == history.deployment, "the checkpoint is of another journal")
    covered = [bytes.fromhex(one) for one in history.hashes[: int(size)]]
    check(len(covered) == int(size), f"entry {len(covered) + 1} is missing, which the checkpoint covers")
    check(root_of(covered) == base64.b64decode(root), "the entries are not those of the checkpoint")
    return int(size)


def signed(body, signatures, key):
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    host, name, encoded = key.split("+", 2)
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(encoded)[1:])
    for line in signatures.splitlines():
        mark, signer, value = line.split(" ")
        number, signature = base64.b64decode(value)[:4], base64.b64decode(value)[4:]
        if (mark, signer, number.hex()) != ("\u2014", host, name):
            continue
        try:
            public.verify(signature, body.encode("utf-8"))
            return True
        except InvalidSignature:
            return False
    return False


def root_of(leaves) -> bytes:
    """The root of the tree: whole subtrees wait for their neighbours, the largest first."""
    waiting = []
    for leaf in leaves:
        level, node = 0, digest(b"\0" + leaf)
        while waiting and waiting[-1][0] == level:
            node = digest(b"\1" + waiting.pop()[1] + node)
            level += 1
        waiting.append((level, node))
    node = waiting.pop()[1]
    while waiting:
        node = digest(b"\1" + waiting.pop()[1] + node)
    return node


def verify(arguments):
    if arguments.folder is not None:
        reader, address = Folder(arguments.folder), arguments.place[-1]
    else:
        server, world, address = arguments.place
        reader = Server(server, world, os.environ["ORRERY_KEY"])
    history = fold(reader, address)
    found = {"valid": True, "entries": len(history.hashes), "hash": history.previous}
    found |= {"instances": None, "states": None, "seeds": history.seeds.counts()}
    if history.states is not None:
        compare(history.states, reader.instances(address))
        found |= {"instances": len(history.states), "states": digest_of(history.states)}
    if arguments.checkpoint is not None:
        with open(arguments.checkpoint, encoding="utf-8") as file:
            found["covered"] = hold_to(history, file.read(), arguments.key)
    return found


def read_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", nargs="+", metavar="SERVER WORLD DEPLOYMENT")
    parser.add_argument("--folder")
    parser.add_argument("--checkpoint")
    parser.add_argument("--key")
    read = parser.parse_args(arguments)
    if len(read.place) != (1 if read.folder else 3):
        parser.error("it takes SERVER WORLD DEPLOYMENT, or --folder FOLDER DEPLOYMENT")
    if read.folder is None and "ORRERY_KEY" not in os.environ:
        parser.error("ORRERY_KEY has to hold an API key")
    if (read.checkpoint is None) != (read.key is None):
        parser.error("a checkpoint takes the key that has signed it: give both or neither")
    return read


def main(arguments):
    try:
        print(json.dumps(verify(read_arguments(arguments))))
        return 0
    except Broken as broken:
        print(json.dumps({"valid": False, "reason": str(broken)}, ensure_ascii=False))
        return 1
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        print(json.dumps({"valid": False, "reason": f"something that was read is malformed: {error!r}"}))
        return 1
    except ImportError as error:
        print(f"A checkpoint takes the package `cryptography`: {error}", file=sys.stderr)
        return 2
    except (OSError, urllib.error.URLError) as error:
        print(f"It could not be read: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
