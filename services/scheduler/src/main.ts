import '@orrery/service-kit/check-node';
import { runServiceProcess } from '@orrery/service-host';
import { readSchedulerConfig } from './config.js';
import { startScheduler } from './service.js';

await runServiceProcess({
  name: 'scheduler',
  env: process.env,
  readConfig: readSchedulerConfig,
  start: startScheduler,
  defaultHealthPort: 3103,
});
