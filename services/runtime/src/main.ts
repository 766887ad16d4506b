import { runService } from '@orrery/service-kit';
import { startFromEnvironment } from './start-from-environment.js';

await runService({ name: 'runtime', env: process.env, start: startFromEnvironment, defaultHealthPort: 3102 });
