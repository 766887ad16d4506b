import { runMeasurement } from '../run-measurement.js';
import { runScaling } from './run-scaling.js';

await runMeasurement({ rounds: 3, seconds: 5, connections: 64, deployments: 200 }, runScaling);
