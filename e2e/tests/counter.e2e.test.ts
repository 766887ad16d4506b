import { describeWithNats } from '@orrery/testing';
import { describe } from 'vitest';
import { allInOne, countWith64Clients, fiveProcesses } from './counting-suite.js';

describe('all in one', () => countWith64Clients(10_000, allInOne));

describeWithNats('five processes', () => countWith64Clients(2000, fiveProcesses), { own: true });
