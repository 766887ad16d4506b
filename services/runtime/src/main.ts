import { runService } from '@orrery/service-kit';
import { readSettings, startFromEnvironment } from './start-from-environment.js';

await runService({
  name: 'runtime',
  env: process.env,
  settings: readSettings,
  start: startFromEnvironment,
  defaultHealthPort: 3102,
});
