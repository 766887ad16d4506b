import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../variables-read.js';
import { validate } from './kubernetes-models.js';
import { documentsOf, SERVICES, variablesOf, type Yaml, yamlOf } from './read-deploy.js';

const FOLDER = 'deploy/kubernetes';
const kustomization = yamlOf(`${FOLDER}/kustomization.yaml`);
const files: string[] = kustomization.resources;
const objects: Yaml[] = files.flatMap((file) => documentsOf(`${FOLDER}/${file}`));
const named = (kind: string, name: string): Yaml =>
  objects.find(({ kind: other, metadata }) => other === kind && metadata.name === name);
const labelsOf = (name: string) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/part-of': 'orrery',
});

describe('the objects of the base', () => {
  it('are all the files of the folder', () => {
    const there = readdirSync(join(ROOT, FOLDER)).filter((file) => file !== 'kustomization.yaml');
    expect([...files].sort()).toEqual(there.sort());
  });

  it.each(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]))(
    '%s is valid',
    (_name, object) => {
      expect(() => validate(object)).not.toThrow();
    },
  );

  it('are checked against their schemas: a wrong one is found', () => {
    const wrong = structuredClone(named('Deployment', 'gateway'));
    wrong.spec.template.spec.containers[0].readinessProbe.periodSeconds = 'soon';
    expect(() => validate(wrong)).toThrow(/periodSeconds/);
  });

  it('name no namespace and hold no secret', () => {
    expect(objects.filter(({ metadata, kind }) => metadata.namespace || kind === 'Secret')).toEqual([]);
    const values = objects.flatMap(({ spec }) => containersIn(spec)).flatMap(({ env = [] }) => env as Yaml[]);
    expect(values.filter(({ valueFrom }) => valueFrom?.secretKeyRef?.name !== 'orrery')).toEqual([]);
  });
});

function containersIn(spec: Yaml): Yaml[] {
  return spec?.template?.spec?.containers ?? [];
}

describe.each(SERVICES)('%s', (name) => {
  const deployment = named('Deployment', name);
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;

  it('runs its own image as a user without rights, on a file system that it cannot write', () => {
    expect(container.image).toBe(`orrery-${name}`);
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('is probed where it answers', () => {
    const { data } = named('ConfigMap', 'orrery');
    const health = container.ports.find((port: Yaml) => port.name === 'health');
    expect(String(health.containerPort)).toBe(data.HEALTH_PORT);
    for (const [probe, path] of Object.entries({
      startup: 'healthz',
      liveness: 'healthz',
      readiness: 'readyz',
    }))
      expect(container[`${probe}Probe`].httpGet).toEqual({ path: `/${path}`, port: 'health' });
  });

  it('is given only variables that it reads, its own user of NATS among them', () => {
    const own: string[] = container.env.map((variable: Yaml) => variable.name);
    const read = variablesOf(name);
    expect(own.filter((variable) => !read.includes(variable))).toEqual([]);
    const nats = container.env.find((variable: Yaml) => variable.name === 'NATS_URL');
    expect(nats.valueFrom.secretKeyRef.key).toBe(`nats-url-${name}`);
    expect(own).toContain('DATABASE_URL');
  });

  it('keeps most of its pods in a disruption, and all in an update', () => {
    const budget = named('PodDisruptionBudget', name);
    expect(budget.spec).toEqual({ maxUnavailable: 1, selector: { matchLabels: labelsOf(name) } });
    expect(deployment.spec.selector.matchLabels).toEqual(labelsOf(name));
    expect(deployment.spec.template.metadata.labels).toEqual(labelsOf(name));
    expect(deployment.spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  });

  it('has at least two pods', () => {
    const scaler = named('HorizontalPodAutoscaler', name);
    if (scaler === undefined) return expect(deployment.spec.replicas).toBe(2);
    expect(scaler.spec.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name });
    expect(scaler.spec.minReplicas).toBeGreaterThanOrEqual(2);
    expect(deployment.spec.replicas).toBeUndefined();
  });
});

it('the variables that all share are read by one of them at least', () => {
  const read = SERVICES.flatMap(variablesOf);
  const shared = Object.keys(named('ConfigMap', 'orrery').data);
  expect(shared.filter((variable) => !read.includes(variable))).toEqual([]);
});

it('only the gateway can be reached from elsewhere, and only what calls others reaches out', () => {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
  const everyPod = policies.find(({ metadata }) => metadata.name === 'orrery');
  expect(everyPod.spec.podSelector.matchLabels).toEqual({ 'app.kubernetes.io/part-of': 'orrery' });
  expect(everyPod.spec.policyTypes).toEqual(['Ingress', 'Egress']);
  const open = policies.filter(({ spec }) => spec.ingress?.some((rule: Yaml) => rule.from === undefined));
  expect(open.map(({ metadata }) => metadata.name)).toEqual(['gateway']);
  const [outside] = policies.filter(({ metadata }) => metadata.name === 'outside');
  expect(outside.spec.podSelector.matchExpressions[0].values).toEqual(['gateway', 'runtime', 'chain-pusher']);
});
