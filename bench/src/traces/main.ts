import { runMeasurement } from '../run-measurement.js';
import { runTraces } from './run-traces.js';

await runMeasurement({ rounds: 5, seconds: 3, connections: 64, deployments: 200 }, runTraces);
