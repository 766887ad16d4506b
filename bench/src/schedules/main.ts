import { runMeasurement } from '../run-measurement.js';
import { runSchedules } from './run-schedules.js';

await runMeasurement(
  { schedules: 10_000, idle: 100_000, 'api-per-second': 50, 'per-second': 0, lead: 90, rounds: 3 },
  ({ 'api-per-second': apiPerSecond, 'per-second': perSecond, lead: leadSeconds, ...given }) =>
    runSchedules({ ...given, apiPerSecond, perSecond, leadSeconds }),
);
