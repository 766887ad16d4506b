import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { ROOT } from '../variables-read.js';
import { validate } from './kubernetes-models.js';
import { documentsOf, type Yaml, yamlOf } from './read-deploy.js';

describe('docker-compose.two-homes.yml', () => {
  const base = yamlOf('docker-compose.yml').services;
  const added = yamlOf('docker-compose.two-homes.yml').services;
  const { build: _, depends_on: __, ...runtime } = base.runtime;
  const first = base.migrate.environment.DATABASE_URL;
  const second = first.replace('@postgres:', '@postgres-2:');
  const observability = yamlOf('docker-compose.observability.yml').services;
  // The collector is not there without the other file.
  const ofEnv = { OTEL_EXPORTER_OTLP_ENDPOINT: expect.stringMatching(/^\$.OTEL_EXPORTER_OTLP_ENDPOINT:-.$/) };
  const traces = { ...observability.runtime.environment, ...ofEnv };

  it('has a runtime as the first one is, on another database of the same directory', () => {
    const { depends_on, ...container } = added['runtime-2'];
    expect(container).toEqual({
      ...runtime,
      environment: {
        ...{ ...runtime.environment, ...traces },
        ...{ DATABASE_URL: second, RUNTIME_DIRECTORY_URL: first },
      },
      networks: expect.any(Object),
    });
    expect(depends_on).toEqual({
      'add-2': { condition: 'service_completed_successfully' },
      nats: base.runtime.depends_on.nats,
    });
  });

  // Docker answers with the containers of the first network that has any of the name.
  it('is found by the name of the first one in every network, as Prometheus is in more than one', () => {
    expect(observability.prometheus.networks).toEqual(expect.arrayContaining(runtime.networks));
    const found = runtime.networks.map((network: string) => [network, { aliases: ['runtime'] }]);
    expect(added['runtime-2'].networks).toEqual(Object.fromEntries(found));
  });

  it('gives every process of the runtime, and the command, the directory', () => {
    for (const name of ['runtime', 'migrate', 'migrate-2', 'add-2', 'runtime-2'])
      expect(added[name].environment.RUNTIME_DIRECTORY_URL, name).toBe(first);
    expect(added.migrate.environment).toMatchObject({ DATABASE_URL_1: first, DATABASE_URL_2: second });
  });

  it('brings the second database up to date and names it, once the first runtime runs', () => {
    const { build: _, depends_on: __, command: ___, ...migrate } = base.migrate;
    const environment = { ...migrate.environment, DATABASE_URL: second, RUNTIME_DIRECTORY_URL: first };
    expect(added['migrate-2']).toMatchObject({ ...migrate, environment, command: base.migrate.command });
    expect(added['add-2']).toMatchObject({ ...migrate, environment, command: ['databases', 'add', '2'] });
    expect(added['add-2'].depends_on).toEqual({
      'migrate-2': { condition: 'service_completed_successfully' },
      runtime: { condition: 'service_healthy' },
    });
  });

  it('has a server as the first one is, and both can publish the rows of a partition', () => {
    expect(added['postgres-2']).toEqual({ ...base.postgres, volumes: ['postgres-2:/var/lib/postgresql'] });
    expect(base.postgres.command).toContain('wal_level=logical');
  });
});

const COMPONENT = 'deploy/kubernetes-second-home';
const files: string[] = yamlOf(`${COMPONENT}/kustomization.yaml`).resources;
const objects: Yaml[] = files.flatMap((file) => documentsOf(`${COMPONENT}/${file}`));

describe(COMPONENT, () => {
  it('is all the files of the folder', () => {
    const there = readdirSync(join(ROOT, COMPONENT)).filter((file) => file !== 'kustomization.yaml');
    expect([...files].sort()).toEqual(there.sort());
  });

  it.each(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]))(
    '%s is valid',
    (_name, object) => {
      expect(() => validate(object)).not.toThrow();
    },
  );

  it('has the runtimes of the base under another name, with a secret for their own database', () => {
    const renamed = JSON.stringify(documentsOf('deploy/kubernetes/runtime.yaml'))
      .replace(/"(app.kubernetes.io\/name|name)":"runtime(-metrics)?"/g, '"$1":"runtime-2$2"')
      .replace('"name":"runtime-2","image"', '"name":"runtime","image"')
      .replace('"name":"orrery","key":"database-url"', '"name":"orrery-2","key":"database-url"')
      .replace('"key":"runtime-directory-url","optional":true', '"key":"runtime-directory-url"');
    expect(documentsOf(`${COMPONENT}/runtime-2.yaml`)).toEqual(JSON.parse(renamed));
  });

  it('migrates the second database as the first, then names it', () => {
    const [{ spec }] = documentsOf('deploy/kubernetes/migrate.yaml');
    const [base] = spec.template.spec.containers;
    const [job] = documentsOf(`${COMPONENT}/migrate-2.yaml`);
    const { initContainers, containers, ...pod } = job.spec.template.spec;
    const { containers: _, ...basePod } = spec.template.spec;
    expect(pod).toEqual(basePod);
    const env = [
      { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'orrery-2', key: 'database-url' } } },
      {
        name: 'RUNTIME_DIRECTORY_URL',
        valueFrom: { secretKeyRef: { name: 'orrery', key: 'runtime-directory-url' } },
      },
    ];
    expect(initContainers).toEqual([{ ...base, env }]);
    expect(containers).toEqual([{ ...base, env, name: 'add', args: ['databases', 'add', '2'] }]);
  });

  // A machine without kubectl checks the files above alone.
  if (hasKubectl())
    it('is taken into an overlay of the base: both secrets are named, and both runtimes reach out', () => {
      const built = buildOverlay();
      const runtimes = built.filter(({ kind, spec }) => kind === 'Deployment' && isRuntime(spec));
      const urls = runtimes.map(
        ({ spec }) => spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.name,
      );
      expect(urls.map((name: string) => name.replace(/-[a-z0-9]{10}$/, ''))).toEqual(['orrery', 'orrery-2']);
      const outside = built.find(
        ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'outside',
      );
      const [{ values }] = outside.spec.podSelector.matchExpressions;
      expect(values).toEqual(['gateway', 'runtime', 'chain-pusher', 'runtime-2']);
    });
});

const isRuntime = (spec: Yaml): boolean => spec.template.spec.containers[0].image.includes('orrery-runtime');

function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['kustomize', '--help'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The overlay of docs/operations.md, with the component. */
function buildOverlay(): Yaml[] {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-overlay-'));
  try {
    const overlay = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: [relative(folder, join(ROOT, 'deploy/kubernetes'))],
      components: [relative(folder, join(ROOT, COMPONENT))],
      secretGenerator: [
        { name: 'orrery', literals: ['database-url=first', 'runtime-directory-url=directory'] },
        { name: 'orrery-2', literals: ['database-url=second'] },
      ],
    };
    writeFileSync(join(folder, 'kustomization.yaml'), stringify(overlay));
    const text = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
    return parseAllDocuments(text).map((document) => document.toJS());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
