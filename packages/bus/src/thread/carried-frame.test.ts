import { expect, it } from 'vitest';
import { carryFrame, readFrame } from './carried-frame.js';

it('brings body and headers over', () => {
  for (const headers of [{}, { 'orrery-request': 'r1', 'orrery-deadline': '' }]) {
    const frame = { headers, body: '{"a":"\n🐎"}' };
    expect(readFrame(structuredClone(carryFrame(frame)))).toEqual(frame);
  }
});
