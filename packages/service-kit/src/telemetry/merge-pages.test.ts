import { expect, it } from 'vitest';
import { mergePages } from './start-telemetry.js';

const page = (...samples: string[]) =>
  ['# HELP target_info Target metadata', '# TYPE target_info gauge', 'target_info{service_name="orrery"} 1']
    .concat('# HELP calls_total calls', '# TYPE calls_total counter', samples, '')
    .join('\n');

it('keeps the lines of a metric together, and says once what it is', () => {
  const merged = mergePages([page('calls_total{by="a"} 1'), page('calls_total{by="b"} 2')]);
  expect(merged).toBe(page('calls_total{by="a"} 1', 'calls_total{by="b"} 2'));
});

it('has the metrics that only one page knows', () => {
  const alone = '# HELP only_here one\n# TYPE only_here gauge\nonly_here 3\n';
  expect(mergePages([page('calls_total 1'), alone])).toBe(`${page('calls_total 1')}${alone}`);
  expect(mergePages([])).toBe('');
});
