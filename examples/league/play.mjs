// A league: results make the table, rules hold for everybody, the history can be proved.
import { createInstances, openWorld, orrery, refused, say } from '../orrery.mjs';

const { deployment: season, instances } = await openWorld(import.meta.url, {
  says: 'A season: a deployment that runs all events in their latest versions',
});

say('Its teams');
await createInstances(season, instances);

say('A match day');
const played = (home, homeGoals, away, awayGoals) => [
  'execute',
  season,
  'match_played',
  `home=${home}`,
  `homeGoals=${homeGoals}`,
  `away=${away}`,
  `awayGoals=${awayGoals}`,
];
await orrery(...played('Oak', 2, 'Elm', 1));
await orrery(...played('Elm', 0, 'Ash', 0));
await orrery(...played('Ash', 3, 'Oak', 1));

say('A team that does not exist is no new team: the guard of the event refuses it');
await refused(...played('Oak', 1, 'Aok', 0));

say('What would be changed by a penalty? Nothing is committed.');
const penalty = (points) => [
  'execute',
  season,
  'points_deducted',
  'team=Ash',
  `points=${points}`,
  'reason=a late line-up',
];
await orrery(...penalty(1), '--dry-run');
await orrery(...penalty(1));

say('More points than a team has cannot be taken');
await refused(...penalty(9));

say('The table, and who is first');
await orrery(
  ...['instances', 'list', season, '--entity-schema', 'team'],
  ...['--order-by', 'points desc, scored desc', '--where', 'instance.played > 0'],
);
await orrery('execute', season, 'season_ended');
await orrery('execute', season, 'medals_given', 'played=2');

say('The league wants the difference of goals: a required attribute, which no team has yet');
const [league] = season.split('/');
await orrery(
  ...['attributes', 'create', league, 'team', 'difference', 'integer'],
  ...['--constraints', '{"required":true}'],
);
await orrery('instances', 'check', season, 'team');
say('The states follow: first a dry run, then as ordinary entries of the journal');
const difference = ['team', 'difference={{ instance.scored - instance.conceded }}'];
await orrery('instances', 'map', season, ...difference, '--dry-run');
await orrery('instances', 'map', season, ...difference);
await orrery('instances', 'check', season, 'team');

say('The history, with what was refused; nobody can change it unseen');
await orrery('history', 'list', season);
await orrery('history', 'verify', season);

say('The return matches: each books its result at once and schedules the next one, two seconds later');
await orrery('execute', season, 'fixture_played', 'calendar=return');
await orrery('timers', 'list', season);
