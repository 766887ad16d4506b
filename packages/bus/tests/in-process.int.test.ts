import { describe } from 'vitest';
import { busContract } from './bus.contract.js';
import { openHubWorld } from './hub-world.js';

describe('the in-process bus', () => busContract(() => openHubWorld((hub) => ({ hub }))));
