import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@orrery/testing/system';
import { expect, it } from 'vitest';

const manifests = execFileSync('git', ['ls-files', '*package.json'], {
  cwd: repositoryRoot,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

/** `tsc -b` goes by times of files: of a release that was unpacked over a later one it would build nothing. */
it.each(manifests)('%s builds by what files say', (manifest) => {
  const { scripts = {} } = JSON.parse(readFileSync(join(repositoryRoot, manifest), 'utf8')) as {
    scripts?: { build?: string };
  };
  expect(scripts.build ?? '').not.toMatch(/tsc (-b|--build)/);
});
