import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { linkLibraries, locateBinaries } from '../src/binaries/binaries.js';
import { findTemplate } from '../src/cluster/initdb.js';
import { openCluster } from '../src/cluster/open-cluster.js';

/** What a server leaves when it ends, and what it had to grow. */
const OF_A_RUN = /^postmaster\.opts$|^pg_stat\/|_fsm$|_vm$|pg_internal\.init$/;

/** Names, owners, modes, and what was chosen for it; contents differ in times and in what is random. */
async function factsOf(dataDirectory: string) {
  const names = (await readdir(dataDirectory, { recursive: true }))
    .filter((name) => !OF_A_RUN.test(name))
    .sort();
  const files = await Promise.all(
    names.map(async (name) => {
      const { uid, mode, size } = await stat(join(dataDirectory, name));
      return { name, uid, mode, size };
    }),
  );
  const settings = ['postgresql.conf', 'pg_hba.conf', 'PG_VERSION'].map((name) =>
    readFile(join(dataDirectory, name), 'utf8'),
  );
  return { files, settings: await Promise.all(settings) };
}

test('a cluster copied from the template is the one that initdb would have made', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-template-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const binaries = await locateBinaries();
  await linkLibraries(binaries);
  const unbuilt = { ...binaries, version: 'of no build' };
  expect(await findTemplate(binaries), 'made by `npm run build`').toBeDefined();
  expect(await findTemplate(unbuilt)).toBeUndefined();
  const [copied, made] = await Promise.all([
    openCluster(join(folder, 'copied'), binaries),
    openCluster(join(folder, 'made'), unbuilt),
  ]);
  expect(await factsOf(copied.dataDirectory)).toEqual(await factsOf(made.dataDirectory));
});
