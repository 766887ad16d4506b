import type { MessagePort } from 'node:worker_threads';
import type { Logger } from '@orrery/service-kit';
import { lendTransport } from '../thread/lend-transport.js';
import type { InProcessHub } from './hub.js';
import { joinHub } from './in-process-transport.js';

/** Lets a service in another thread of this process have its bus on the hub: it connects by the channel's other port. */
export const lendHub = (hub: InProcessHub, port: MessagePort, logger: Logger): void =>
  lendTransport(joinHub(hub), port, logger);
