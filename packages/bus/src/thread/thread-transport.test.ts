import { expect, it } from 'vitest';
import { packFrame, unpackFrame } from './thread-transport.js';

it('brings body and headers over', () => {
  for (const headers of [{}, { 'orrery-request': 'r1', 'orrery-deadline': '' }]) {
    const frame = { headers, body: '{"a":"\n🐎"}' };
    expect(unpackFrame(structuredClone(packFrame(frame)))).toEqual(frame);
  }
});
