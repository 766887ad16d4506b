// A tavern: guests throw dice for coins, and whoever reads the history checks each throw.
import { createHash, createHmac } from 'node:crypto';
import { createInstances, openWorld, orrery, orreryData, refused, say } from '../orrery.mjs';

const { deployment: tavern, instances } = await openWorld(import.meta.url, {
  says: 'A night: a deployment that runs all events in their latest versions',
});

say('Its guests, with twenty coins each');
await createInstances(tavern, instances);

say('Where they sit, and who pays the first round in some hours: all by lot');
await orrery('execute', tavern, 'seats_drawn');
await orrery('timers', 'list', tavern);

say('Duels: two dice each');
const duel = (challenger, opponent, stake) => [
  ...['execute', tavern, 'duel_rolled', `challenger=${challenger}`, `opponent=${opponent}`],
  `stake=${stake}`,
];
await orrery(...duel('Ada', 'Brom', 5));
await orrery(...duel('Brom', 'Cyr', 3));
await orrery(...duel('Cyr', 'Ada', 4));

say('A dry run throws other dice: nobody learns from it what a duel would give');
await orrery(...duel('Ada', 'Cyr', 2), '--dry-run');

say('Nobody can play for more than there is: whoever loses, the stake has to be there');
await refused(...duel('Ada', 'Nobody', 2));

say('The night, and the secret that the journal had committed to before the first throw');
await orrery('history', 'list', tavern, '--include', 'all');
const { secrets } = await orreryData((revealed) => revealed, 'deployments', 'reveal-randomness', tavern);

say(
  'What a stranger checks: the secret is the one of the commitment before; of it come the seeds, and the dice',
);
const journal = await orreryData(
  ({ length }) => ({ entries: length }),
  ...['history', 'list', tavern, '--include', 'all', '--all'],
);
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const hmac = (key, message) => createHmac('sha256', key).update(message).digest();
const committedAt = (commitment) =>
  journal.find(({ kind, input }) => kind === 'randomness_committed' && input.commitment === commitment)?.seq;
const duels = journal.filter(({ event, status }) => event === 'duel_rolled' && status === 'succeeded');
for (const { seq, input, randomness, stateChanges } of duels.reverse()) {
  const { commitment } = randomness;
  const { secret } = secrets.find((told) => told.commitment === commitment);
  if (sha256(Buffer.from(secret, 'hex')) !== commitment || !(committedAt(commitment) < seq))
    throw new Error(`Nobody was bound to the secret of entry ${seq} before it was thrown.`);
  const inputHash = sha256(JSON.stringify(Object.fromEntries(Object.entries(input).sort())));
  const seed = hmac(Buffer.from(secret, 'hex'), randomness.run + inputHash);
  const dice = [0n, 1n, 2n, 3n].map((k) => {
    const message = Buffer.alloc(8);
    message.writeBigUInt64BE(k);
    return Number(hmac(seed, message).readBigUInt64BE() % 6n) + 1;
  });
  const rolls = [input.challenger, input.opponent].map((guest) => stateChanges[`guest:${guest}`].roll);
  const sums = [dice[0] + dice[1], dice[2] + dice[3]];
  if (seed.toString('hex') !== randomness.seed || `${sums}` !== `${rolls}`)
    throw new Error(`Entry ${seq} was not thrown so.`);
  process.stdout.write(
    `entry ${seq}: ${input.challenger} ${sums[0]}, ${input.opponent} ${sums[1]}: as thrown\n`,
  );
}

say('The same by the service: it decides every execution again');
await orrery('history', 'verify', tavern, '--decisions', 'true');
