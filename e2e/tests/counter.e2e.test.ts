import { describe } from 'vitest';
import { allInOne, countWith64Clients } from './counting-suite.js';

describe('all in one', () => countWith64Clients(10_000, allInOne));
