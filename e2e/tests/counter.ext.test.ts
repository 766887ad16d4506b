import { describeWithNats } from '@orrery/testing';
import { countWith64Clients, fiveProcesses } from './counting-suite.js';

describeWithNats('five processes', () => countWith64Clients(10_000, fiveProcesses), { own: true });
