import { Name, numberText } from '../ui/parts.js';
import { boundsOf, type Line, stepsOf } from './trend.js';

const SIZE = { width: 600, height: 150 };

/** How a number went: a line of steps for each instance. What it shows is told in words, too. */
export function TrendChart({ lines, attribute }: { lines: readonly Line[]; attribute: string }) {
  const bounds = boundsOf(lines);
  return (
    <figure class="trend">
      <figcaption>
        <Name>{attribute}</Name>, moments {bounds.first} to {bounds.last}
      </figcaption>
      <svg
        viewBox={`-4 -8 ${SIZE.width + 8} ${SIZE.height + 16}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${attribute} from ${numberText(bounds.least)} to ${numberText(bounds.most)}`}
      >
        {lines.map((line, at) => (
          <polyline key={line.id} class={`line line-${at}`} points={stepsOf(line, bounds, SIZE)} />
        ))}
      </svg>
      <ul class="legend">
        {lines.map(({ id, points }, at) => (
          <li key={id}>
            <span class={`swatch line-${at}`} aria-hidden="true" />
            <Name>{id}</Name> <b>{numberText(points.at(-1)?.value ?? 0)}</b>
          </li>
        ))}
      </ul>
    </figure>
  );
}
