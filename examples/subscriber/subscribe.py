import asyncio, json, os, sys, uuid
import nats
from nats.js.api import AckPolicy, ConsumerConfig

user, path = os.environ["NATS_USER"], os.environ.get("POSITIONS", "positions.json")
positions = json.load(open(path)) if os.path.exists(path) else {}
SUBJECT, STREAM, DURABLE = "orrery.facts.runtime.journal-entry", "ORRERY_FACTS", f"{user}-runtime_journal-entry"

def position_of(deployment):
    return positions.get(deployment, {"seq": 0, "hash": ""})

def handle(entry):  # Your effect. Store it together with the position: here a line is written, then the position.
    print(entry["deployment"], entry["seq"], entry["kind"], entry["event"] or "-", entry["status"] or "-", flush=True)
    keep(entry["deployment"], entry["seq"], entry["hash"])

def keep(deployment, seq, hash):
    positions[deployment] = {"seq": seq, "hash": hash}
    with open(path + ".new", "w") as file:
        json.dump(positions, file)
    os.replace(path + ".new", path)

async def ask(client, name, request):
    about = {"orrery-caller": json.dumps({"kind": "service", "service": user}),
             "orrery-request": str(uuid.uuid4()), "orrery-deadline": "0 5000"}
    answer = await client.request(f"orrery.runtime.journal.{name}", json.dumps(request).encode(), timeout=5, headers=about)
    if "orrery-error" in (answer.headers or {}):
        raise RuntimeError(answer.data.decode())
    return None if "orrery-parts" in (answer.headers or {}) else json.loads(answer.data)

async def entries_after(client, deployment, after):  # An answer beyond 1 MiB would come in parts: then one entry at a time.
    request = {"deployment": deployment, "after": after, "limit": 50}
    page = await ask(client, "range", request) or await ask(client, "range", {**request, "limit": 1})
    return page["entries"]

async def catch_up(client, deployment):  # It reads the entry at the position again: what was handled must still be there.
    while True:
        at = position_of(deployment)
        last, *more = [None] if at["seq"] == 0 else await entries_after(client, deployment, at["seq"] - 1) or [None]
        if at["seq"] > 0 and (last is None or last["hash"] != at["hash"]):
            if await go_back(client, deployment):
                continue
            return
        entries = more or await entries_after(client, deployment, at["seq"])
        if not entries:
            return
        for entry in entries:
            handle(entry)

async def go_back(client, deployment):  # The journal lost what was handled. False: no entry says so yet.
    seq, after, lost = position_of(deployment)["seq"], 0, None
    while after < seq and (page := await entries_after(client, deployment, after)):
        says_so = [one for one in page if one["kind"] == "tail_lost" and one["seq"] <= seq <= one["input"]["seq"]]
        lost, after = (says_so or [lost])[-1], page[-1]["seq"]
    if lost is None:
        return False
    print(deployment, "lost from", lost["seq"], flush=True)  # Undo your effects from this number on.
    keep(deployment, lost["seq"] - 1, lost["prevHash"])
    return True

async def catch_up_all(client):
    page = {"next": None}
    while page is not None:
        page = await ask(client, "heads", {"changedSince": None, "after": page["next"], "limit": 1000, "of": "journal"})
        for head in page["heads"]:
            if head["hash"] != position_of(head["deployment"])["hash"]:
                await catch_up(client, head["deployment"])
        page = page if page["next"] else None

async def receive(client, entry):
    at = position_of(entry["deployment"])
    if entry["seq"] == at["seq"] + 1 and (at["seq"] == 0 or entry["prevHash"] == at["hash"]):
        handle(entry)
    elif entry["seq"] > at["seq"] or entry["kind"] == "tail_lost":
        await catch_up(client, entry["deployment"])

async def follow(client):
    stream = client.jetstream()
    config = ConsumerConfig(name=DURABLE, durable_name=DURABLE, filter_subject=SUBJECT, ack_policy=AckPolicy.EXPLICIT)
    subscription = await stream.pull_subscribe(SUBJECT, DURABLE, STREAM, config)
    while True:
        await catch_up_all(client)
        try:
            for message in await subscription.fetch(200, timeout=5):
                await receive(client, json.loads(message.data))
                await message.ack()
        except nats.errors.TimeoutError:
            pass

async def main():
    client = await nats.connect(os.environ["NATS_URL"], user=user, password=os.environ["NATS_PASSWORD"],
                                inbox_prefix=f"orrery.inbox.{user}".encode(), max_reconnect_attempts=-1)
    while True:
        try:
            await follow(client)
        except Exception as error:
            print(f"{error!r}: again in a second", file=sys.stderr)
            await asyncio.sleep(1)

asyncio.run(main())
