import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../variables-read.js';
import { SERVICES, textOf, variablesOf, type Yaml, yamlOf } from './read-deploy.js';

const compose = yamlOf('docker-compose.yml');
const overrides: [string, Yaml][] = ['development', 'observability', 'two-homes'].map((name) => [
  name,
  yamlOf(`docker-compose.${name}.yml`),
]);
const services: [string, Yaml][] = Object.entries(compose.services);
const files: [string, Yaml][] = [['docker-compose.yml', compose], ...overrides];
const passwordOf = (service: string) => `NATS_${service.replaceAll('-', '_').toUpperCase()}_PASSWORD`;

/** What is in a file of secrets after they were made for it. */
function makeSecrets(before: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  try {
    const file = join(folder, '.env');
    writeFileSync(file, before);
    execFileSync('sh', [join(ROOT, 'deploy/make-env.sh'), file]);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.each(SERVICES)('the container of %s', (name) => {
  const service = compose.services[name];

  it('is built from its own stage', () => {
    expect(service.build).toEqual({ context: '.', dockerfile: 'deploy/Dockerfile', target: name });
    expect(service.image).toBe(`orrery-${name}`);
  });

  it('can do no more than it must', () => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      pids_limit: expect.any(Number),
      mem_limit: expect.any(String),
      cpus: expect.stringMatching(/^\$\{SERVICE_CPUS:-1\}$/),
    });
  });

  it('starts when the database is migrated and its backends are healthy', () => {
    expect(service.depends_on).toMatchObject({
      migrate: { condition: 'service_completed_successfully' },
      nats: { condition: 'service_healthy' },
    });
  });

  it('can be scaled', () => {
    expect(service).not.toHaveProperty('ports');
    expect(service).not.toHaveProperty('container_name');
  });

  it('has its own user of NATS, and only variables that it reads', () => {
    const given: string[] = [service, ...overrides.map(([, file]) => file.services[name] ?? {})].flatMap(
      ({ environment = {} }) => Object.keys(environment),
    );
    const read = variablesOf(name);
    expect(given.filter((variable) => !read.includes(variable))).toEqual([]);
    expect(given).toContain('DATABASE_URL');
    expect(service.environment.NATS_URL).toMatch(`nats://${name}:\${${passwordOf(name)}:?`);
  });
});

describe('the compose files', () => {
  it.each(files)('%s is read by compose 1.29 too, which knows no top-level name', (_name, file) => {
    const known = /^(services|networks|volumes|x-.*)$/;
    expect(Object.keys(file).filter((key) => !known.test(key))).toEqual([]);
  });

  it('check the health of every backend, before anything starts that needs it', () => {
    const waitedFor = services.flatMap(([, { depends_on = {} }]) =>
      Object.entries<Yaml>(depends_on).filter(([, { condition }]) => condition === 'service_healthy'),
    );
    const backends = new Set(waitedFor.map(([name]) => name));
    expect([...backends].sort()).toEqual(['gateway', 'nats', 'postgres', 'redis']);
    for (const name of ['nats', 'postgres', 'redis', 'proxy'])
      expect(compose.services[name], name).toHaveProperty('healthcheck.test');
  });

  it('limit what each container takes', () => {
    const all = [compose, ...overrides.map(([, file]) => file)].flatMap((file) =>
      Object.entries<Yaml>(file.services).filter(([, { image, build }]) => image ?? build),
    );
    const unlimited = all.filter(([, { mem_limit, cpus }]) => !mem_limit || !cpus);
    expect(unlimited.map(([name]) => name)).toEqual([]);
    // An engine starts no container that may take more CPUs than its machine has.
    const least = all.map(([name, { cpus }]) => [name, /^\$\{\w+:-(\d+)\}$/.exec(cpus)?.[1] ?? cpus]);
    expect(least.filter(([, cpus]) => Number(cpus) !== 1)).toEqual([]);
  });

  it('hold no secret, and require each', () => {
    for (const [, file] of files) {
      const text = JSON.stringify(file);
      expect(text).not.toMatch(/PASSWORD\}|PASSWORD:-/);
    }
    const wanted = [...textOf('docker-compose.yml').matchAll(/\$\{(\w+PASSWORD):\?/g)];
    const made = makeSecrets('');
    for (const [, name] of wanted) expect(made).toMatch(new RegExp(`^${name}=\\w{48,}$`, 'm'));
  });

  it('let whoever calls others out, and say what stands before the gateways', () => {
    const callers = services.filter(([, { networks }]) => networks?.includes('outside'));
    expect(callers.map(([name]) => name)).toEqual(['gateway', 'runtime', 'chain-pusher', 'proxy']);
    expect(compose.services.gateway.environment).toMatchObject({
      TRUST_PROXY: expect.stringMatching(/^\$.TRUST_PROXY:-1.$/),
      WALLET_NODES: expect.stringMatching(/^\$.WALLET_NODES:-.$/),
    });
  });

  it('have a proxy that waits for headers as long as the gateways do, and for a next request longer than they', () => {
    const proxy = textOf('deploy/haproxy/haproxy.cfg');
    const secondsOf = (name: string) =>
      Number(new RegExp(`^ +timeout ${name} (\\d+)s$`, 'm').exec(proxy)?.[1]);
    const gateway = textOf('services/gateway/src/config.ts');
    const headersMs = /HEADERS_TIMEOUT_MS: limit\((\w+),/.exec(gateway)?.[1]?.replaceAll('_', '');
    expect(secondsOf('http-request') * 1000).toBe(Number(headersMs));
    // Without one of its own the proxy takes that of the headers.
    const server = textOf('services/gateway/src/http/server/http-server.ts');
    const keepAliveMs = /keepAliveTimeout: (\w+),/.exec(server)?.[1]?.replaceAll('_', '');
    expect(secondsOf('http-keep-alive') * 1000).toBeGreaterThan(Number(keepAliveMs));
  });

  it('keep the secrets that there are', () => {
    const made = makeSecrets('');
    expect(makeSecrets(made)).toBe(made);
    const others = made.replace(/^REDIS_PASSWORD=.*\n/m, '').trimEnd();
    const completed = makeSecrets(others);
    expect(completed.startsWith(`${others}\n`)).toBe(true);
    expect(completed.slice(others.length)).toMatch(/^\nREDIS_PASSWORD=s[0-9a-f]{48}\n$/);
  });

  it('give NATS the password of each of its users', () => {
    const users = [...textOf('deploy/nats/users.conf').matchAll(/password: \$(\w+),/g)].map(
      ([, name]) => name,
    );
    expect(users).toEqual(SERVICES.map(passwordOf));
    expect(Object.keys(compose.services.nats.environment)).toEqual(expect.arrayContaining(users));
  });

  it('mount files that are there', () => {
    const mounted = files
      .flatMap(([, file]) => Object.values<Yaml>(file.services))
      .flatMap(({ volumes = [] }) => volumes as string[])
      .flatMap((volume) => (volume.startsWith('./') ? [volume.split(':')[0] ?? ''] : []));
    expect(mounted.length).toBeGreaterThan(5);
    expect(mounted.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('open ports on this machine alone', () => {
    const ports = files
      .flatMap(([, file]) => Object.values<Yaml>(file.services))
      .flatMap(({ ports = [] }) => ports as string[]);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  it('add to services that are there', () => {
    for (const [, { services: added }] of overrides)
      for (const [name, service] of Object.entries<Yaml>(added))
        expect(compose.services[name] ?? service.image, name).toBeDefined();
  });
});

describe('the images', () => {
  const dockerfile = textOf('deploy/Dockerfile');
  const stages = new Map(
    [...dockerfile.matchAll(/^FROM (\S+) AS (\S+)\n([\s\S]*?)(?=^FROM|$(?![\s\S]))/gm)].map(
      ([, from, name, body]) => [name ?? '', { from: from ?? '', body: body ?? '' }],
    ),
  );

  it('are of a base that can be chosen', () => {
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:24-slim$/m);
    expect(stages.get('base')?.from).toMatch(/^\$\{NODE_IMAGE\}$/);
  });

  it("are built by the base's own Node.js, whatever its libc", () => {
    expect(stages.get('build')?.body).toMatch(
      /^RUN npm ci [^\n]*&& rm -f node_modules\/\.bin\/node && npm run build /m,
    );
  });

  it('run as a user without rights, and are asked whether they are ready', () => {
    expect(stages.get('base')?.body).toMatch(/^USER node$/m);
    expect(stages.get('service')).toMatchObject({ from: 'base' });
    expect(stages.get('service')?.body).toMatch(/^HEALTHCHECK [\s\S]*readyz/m);
  });

  it.each([...SERVICES, 'orrery'])('%s holds its bundle, and nothing that it does not show', (name) => {
    const { from, body } = stages.get(name) ?? { from: '', body: '' };
    expect(from).toBe(name === 'orrery' ? 'base' : 'service');
    expect(body).not.toMatch(/^(USER|RUN|ADD)/m);
    // The gateway shows the documents, the console and the page for players; it looks for them by these paths.
    const apps = ['docs/dist/public', 'console/dist', 'play/dist'];
    const shown = apps.map((path) => `apps/${path} ./apps/${path}`);
    const pages = name === 'gateway' ? shown.map((paths) => `COPY --from=build /orrery/${paths}`) : [];
    const bundle = `COPY --from=build /orrery/deploy/dist/${name} ./`;
    expect(body.match(/^COPY .*$/gm)).toEqual([bundle, ...pages]);
  });
});
