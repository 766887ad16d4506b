const SHAPE = process.env['E2E_SHAPE'];
/** Whether deployments live in two databases, each with a runtime of its own (`E2E_SHAPE=two-homes`, CONTRIBUTING.md). */
export const HAS_TWO_HOMES = SHAPE === 'two-homes';
/** Whether the suite runs on two processes of each service (`E2E_SHAPE=two-of-each`), or in two homes. */
export const IS_OF_TWO = SHAPE === 'two-of-each' || HAS_TWO_HOMES;

/**
 * Files of the e2e suite that a run of the second shape leaves out, and why: they would do the same again. A pattern may name
 * several. All others start their system with `startSystem`.
 */
export const OF_ONE_SHAPE: Readonly<Record<string, string>> = {
  'all-in-one': 'the all-in-one itself: its start, its end, its folder',
  'chaos-checker': 'the checker of chaos, on a database that an all-in-one has filled',
  'console/run': 'worlds that the sampler of the all-in-one decides',
  'contract-check': 'the check of answers, without any system',
  crashes: 'five processes that are killed one by one',
  drain: 'the end of an all-in-one and of a gateway among five processes',
  examples: 'programs whose reader has an all-in-one',
  'gateway-thread': 'the thread of the all-in-one',
  pages: 'pages whose reader has an all-in-one',
  recording: 'the recorder of exchanges, without any system',
  'service-processes': 'single processes of services',
  'test-processes': 'processes of a test, without any system',
};

const pathOf = (name: string): string => `e2e/tests/${name}.e2e.test.ts`;

/** The same as patterns of paths, empty where the run is of the first shape. */
export const LEFT_OUT: string[] = IS_OF_TWO ? Object.keys(OF_ONE_SHAPE).map(pathOf) : [];

/** Files whose executions wait for a model, a payment or a due time, while processes share the deployments anew. */
const OF_RUNS: readonly string[] = ['ai', 'paid', 'schedules'];

/** Patterns of the files that a run has: those of runs alone with `E2E_FILES=runs` (`npm run test:runs-of-two`). */
export const INCLUDED: string[] = (process.env['E2E_FILES'] === 'runs' ? OF_RUNS : ['**/*']).map(pathOf);
