import { describe, expect, it } from 'vitest';
import { contentBytes, contentHash } from './content-hash.js';

describe('the hash of a content', () => {
  it('is that of its canonical text', () => {
    // sha256 of {"a":1,"b":"é"}, computed by hand with sha256sum.
    const hash = '09ad9fd2fb648cb2f62141215828ea00a62c299db05d20aa9ade2f527a301cc6';
    expect(contentHash({ b: 'é', a: 1 })).toBe(contentHash({ a: 1, b: 'é' }));
    expect(contentHash({ b: 'é', a: 1 })).toBe(hash);
  });

  it('covers the bytes that are counted', () => {
    expect(contentBytes({ b: 'é', a: 1 })).toBe(Buffer.byteLength('{"a":1,"b":"é"}'));
  });
});
