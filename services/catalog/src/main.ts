import { runService } from '@orrery/service-kit';
import { readSettings, startFromEnvironment } from './start-from-environment.js';

await runService({
  name: 'catalog',
  env: process.env,
  settings: readSettings,
  start: startFromEnvironment,
  defaultHealthPort: 3101,
});
