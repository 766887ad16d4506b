import asyncio, json, os, sys, uuid
import nats
from nats.js.api import AckPolicy, ConsumerConfig

user, path = os.environ["NATS_USER"], os.environ.get("POSITIONS", "positions.json")
positions = json.load(open(path)) if os.path.exists(path) else {}
SUBJECT, STREAM, DURABLE = "orrery.facts.runtime.journal-entry", "ORRERY_FACTS", f"{user}-runtime_journal-entry"

def handle(entry):  # Your effect. Store it together with the position: here a line is written, then the position.
    print(entry["deployment"], entry["seq"], entry["kind"], entry["event"] or "-", entry["status"] or "-", flush=True)
    positions[entry["deployment"]] = entry["seq"]
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

async def catch_up(client, deployment, head):  # An answer beyond 1 MiB would come in parts: then one entry at a time.
    while (after := positions.get(deployment, 0)) < head:
        request = {"deployment": deployment, "after": after, "limit": 50}
        page = await ask(client, "range", request) or await ask(client, "range", {**request, "limit": 1})
        for entry in page["entries"]:
            handle(entry)

async def catch_up_all(client):
    page = {"next": None}
    while page is not None:
        page = await ask(client, "heads", {"changedSince": None, "after": page["next"], "limit": 1000, "of": "journal"})
        for head in page["heads"]:
            await catch_up(client, head["deployment"], head["seq"])
        page = page if page["next"] else None

async def follow(client):
    stream = client.jetstream()
    config = ConsumerConfig(name=DURABLE, durable_name=DURABLE, filter_subject=SUBJECT, ack_policy=AckPolicy.EXPLICIT)
    subscription = await stream.pull_subscribe(SUBJECT, DURABLE, STREAM, config)
    while True:
        await catch_up_all(client)
        try:
            for message in await subscription.fetch(200, timeout=5):
                entry = json.loads(message.data)
                await catch_up(client, entry["deployment"], entry["seq"] - 1)
                if entry["seq"] == positions.get(entry["deployment"], 0) + 1:
                    handle(entry)
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
