import { runServiceProcess } from '@orrery/service-host';
import { startScheduler } from './service.js';

await runServiceProcess({
  name: 'scheduler',
  env: process.env,
  readConfig: () => ({}),
  start: startScheduler,
  defaultHealthPort: 3103,
});
