import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, createLogger, systemClock } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openModelFile, startFollowingModelFile } from './model-file.js';

const list = (...ids: string[]) =>
  JSON.stringify(
    ids.map((modelId) => ({
      modelId,
      modelDisplayName: modelId,
      modelDescription: '',
      contextLength: 8192,
      attestationSupported: false,
      verifiable: false,
      isDefault: false,
      baseUrl: 'http://127.0.0.1:1/v1',
    })),
  );

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-models-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Follows a file. With a clock that stands still, only `look` reads it. */
async function follow(path: string, clock: Clock = systemClock) {
  const file = openModelFile(path, {});
  const models = { offered: file.models };
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  const host = new EventEmitter();
  const loop = startFollowingModelFile({ file, models, clock, logger, host: host as never });
  onTestFinished(() => loop.stop());
  await loop.runOnce();
  return {
    look: loop.runOnce,
    stop: loop.stop,
    host,
    ids: () => models.offered.map(({ record }) => record.modelId),
    refusals: () => lines.filter((line) => line.includes('is not usable')),
  };
}

describe('following the list of models', () => {
  it('takes a changed list', async () => {
    const path = join(newFolder(), 'models.json');
    writeFileSync(path, list('a'));
    const { look, ids } = await follow(path, new FakeClock());
    writeFileSync(path, list('a', 'b'));
    await look();
    expect(ids()).toEqual(['a', 'b']);
    writeFileSync(path, list());
    await look();
    expect(ids()).toEqual([]);
  });

  it('keeps the old list when the new one is bad, and says so once', async () => {
    const path = join(newFolder(), 'models.json');
    writeFileSync(path, list('a'));
    const { look, ids, refusals } = await follow(path, new FakeClock());
    writeFileSync(path, '[{"modelId": 1, "baseUrl": "x"}]');
    await look();
    expect(refusals()).toEqual([]);
    for (const _ of [2, 3, 4]) await look();
    expect(refusals()).toHaveLength(1);
    for (const place of ['/0/modelId', '/0/baseUrl', '/0/contextLength'])
      expect(refusals()[0]).toContain(place);
    expect(ids()).toEqual(['a']);
    rmSync(path);
    for (const _ of [1, 2, 3]) await look();
    expect(refusals()).toHaveLength(2);
    expect(refusals()[1]).toContain('ENOENT');
    writeFileSync(path, list('c'));
    await look();
    expect(ids()).toEqual(['c']);
  });

  it('does not report a file that is being written', async () => {
    const path = join(newFolder(), 'models.json');
    writeFileSync(path, list('a'));
    const { look, ids, refusals } = await follow(path, new FakeClock());
    for (const part of ['', '[', '[{"modelId"']) {
      writeFileSync(path, part);
      await look();
    }
    writeFileSync(path, list('b'));
    await look();
    expect(refusals()).toEqual([]);
    expect(ids()).toEqual(['b']);
  });

  it('reports a bad list again to whoever asks by SIGHUP', async () => {
    const path = join(newFolder(), 'models.json');
    writeFileSync(path, list('a'));
    const { look, host, stop, refusals } = await follow(path, new FakeClock());
    writeFileSync(path, '[');
    for (const _ of [1, 2, 3]) await look();
    expect(refusals()).toHaveLength(1);
    host.emit('SIGHUP');
    for (const _ of [1, 2, 3]) await look();
    expect(refusals()).toHaveLength(2);
    await stop();
    expect(host.listenerCount('SIGHUP')).toBe(0);
  });

  it('notices by itself a file written, one renamed into its place, and a link led elsewhere', async () => {
    const folder = newFolder();
    const path = join(folder, 'models.json');
    // As a ConfigMap is mounted: the file leads through a link that is replaced.
    for (const version of ['one', 'two']) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'models.json'), list(version));
    }
    symlinkSync('one', join(folder, '..data'));
    symlinkSync('..data/models.json', path);
    const { ids } = await follow(path);
    expect(ids()).toEqual(['one']);
    symlinkSync('two', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    await vi.waitFor(() => expect(ids()).toEqual(['two']), { timeout: 20_000 });
    writeFileSync(join(folder, 'new.json'), list('three'));
    renameSync(join(folder, 'new.json'), path);
    await vi.waitFor(() => expect(ids()).toEqual(['three']), { timeout: 20_000 });
    writeFileSync(path, list('four'));
    await vi.waitFor(() => expect(ids()).toEqual(['four']), { timeout: 20_000 });
  });
});
