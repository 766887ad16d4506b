import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../variables-read.js';
import { textOf, type Yaml, yamlOf } from './read-deploy.js';

const FILE = 'deploy/observability/alerts.yaml';
const rules: Yaml[] = yamlOf(FILE).groups.flatMap((group: Yaml) => group.rules);
const dashboard = JSON.parse(textOf('deploy/observability/grafana/dashboards/orrery.json'));
const expressions: string[] = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }: Yaml) => targets.map(({ expr }: Yaml) => expr)),
];

/** Metrics are documented for operators, without what Prometheus adds to counters and histograms. */
const documented = (metric: string): boolean =>
  textOf('docs/operations.md').includes(`\`${metric.replace(/_(total|bucket|sum|count)$/, '')}\``);

const promtool = (...args: string[]): string =>
  execFileSync('promtool', args, {
    cwd: join(ROOT, 'deploy/observability'),
    encoding: 'utf8',
    stdio: 'pipe',
  });

function hasPromtool(): boolean {
  try {
    promtool('--version');
    return true;
  } catch {
    return false;
  }
}

describe('alerts and dashboard', () => {
  it('use metrics that are documented', () => {
    const used = new Set(expressions.flatMap((text) => text.match(/\b(orrery|gen_ai_client)_\w+/g) ?? []));
    expect(used.size).toBeGreaterThan(15);
    expect([...used].filter((metric) => !documented(metric))).toEqual([]);
  });

  it('say what is wrong and what to do', () => {
    for (const { alert, annotations, labels } of rules.filter((rule) => rule.alert)) {
      expect(annotations, alert).toMatchObject({ summary: expect.any(String), do: expect.any(String) });
      expect(['page', 'ticket'], alert).toContain(labels.severity);
    }
  });

  // CI has it: .ci/run installs it and sets REQUIRE_BACKENDS.
  if (hasPromtool() || process.env['REQUIRE_BACKENDS'])
    it('are accepted by promtool, and fire when they should', () => {
      expect(promtool('check', 'rules', 'alerts.yaml')).toContain('SUCCESS');
      expect(promtool('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS');
    });
});
