import { runServiceProcess } from '@orrery/service-host';
import { startChainPusher } from './service.js';

await runServiceProcess({
  name: 'chain-pusher',
  env: process.env,
  readConfig: () => ({}),
  start: startChainPusher,
  defaultHealthPort: 3104,
});
