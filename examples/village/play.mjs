// A village of agents: a model moves them, on a schedule and on request, within bounds that it cannot leave.
import { setTimeout } from 'node:timers/promises';
import { createInstances, openWorld, orrery, orreryData, refused, say } from '../orrery.mjs';

say('Which model decides? Without one of yours it is the sampler, which draws values that fit (docs/ai.md)');
await orrery('models', 'list');

const { deployment: village, instances } = await openWorld(import.meta.url, {
  says: 'A village whose days pass by themselves from now on, one each minute',
});
await createInstances(village, instances);

say('A gift follows rules, no model is asked; nobody gives what they do not have');
await orrery('execute', village, 'gift', 'from=Anna', 'to=Bert', 'coins=3');
await refused('execute', village, 'gift', 'from=Anna', 'to=Bert', 'coins=100');

say(
  'Villagers remember what they did and what was done to them: a template, and the model of the next step, get it',
);
for (const who of ['Anna', 'Bert', 'Cleo'])
  await orreryData(({ result }) => result, 'execute', village, 'remember', `who=${who}`);

say('An evening at the inn, decided by the model');
await orreryData(
  ({ stateChanges, result }) => ({ stateChanges, result }),
  'execute',
  village,
  'evening',
  'guest=you',
);

say('The schedule; one day passes at once');
await orrery('schedules', 'list', village);
await orrery('schedules', 'run', village, 'day_passes');
await dayHasPassed();
await orrery('instances', 'list', village);

say('What the model was and what it did is in the history');
await orreryData(
  ([{ llm, result }]) => ({ model: llm.model, attempts: llm.attempts.length, result }),
  'history',
  'list',
  village,
  '--event',
  'day_passes',
  '--status',
  'succeeded',
);
await orrery('history', 'verify', village);

say('The days stop, so that nobody pays for them unseen; `resume` in place of `pause` lets them go on');
await orrery('schedules', 'pause', village, 'day_passes');

/** The schedule may have taken longer than the answer to `run`. */
async function dayHasPassed() {
  for (let waited = 0; waited < 120; waited += 1) {
    const days = await orreryData(
      (list) => list.map(({ status, outcome }) => outcome ?? status),
      'schedules',
      'occurrences',
      village,
      'day_passes',
    );
    if (days.some(({ outcome }) => outcome === 'succeeded')) return;
    await setTimeout(1000);
  }
  throw new Error('No day has passed in two minutes: docs/schedules.md says where to look.');
}
