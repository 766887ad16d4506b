import { runMeasurement } from '../run-measurement.js';
import { runPushes } from './run-pushes.js';

await runMeasurement({ rounds: 3, seconds: 8, connections: 64, single: 20, backlog: 2000 }, runPushes);
