import { describe } from 'vitest';
import { anySystem, countWith64Clients } from './counting-suite.js';

describe('a system', () => countWith64Clients(1500, anySystem));
