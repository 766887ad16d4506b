import { runMeasurement } from '../run-measurement.js';
import { runSchedules } from './run-schedules.js';

await runMeasurement(
  { schedules: 10_000, idle: 100_000, 'api-per-second': 50, lead: 90 },
  ({ 'api-per-second': apiPerSecond, lead: leadSeconds, ...given }) =>
    runSchedules({ ...given, apiPerSecond, leadSeconds }),
);
