import { Link } from '@tanstack/react-router';
import type { DeploymentRef } from '../api/records.js';
import { classes } from '../ui/classes.js';
import type { Need } from './attention.js';

/** What needs attention, each with the way to where it is seen to. */
export const Needs = ({ needs, of, name }: { needs: readonly Need[]; of: DeploymentRef; name?: string }) => (
  <ul
    aria-label={name === undefined ? 'What needs attention' : `What needs attention in ${name}`}
    className="space-y-2"
  >
    {needs.map(({ tone, words, why, place }) => (
      <li
        key={words}
        className={classes(
          'rounded-md border px-3.5 py-2.5',
          tone === 'bad' ? 'border-bad/40 bg-bad-soft' : 'border-warn/40 bg-warn-soft',
        )}
      >
        <Link
          to={`/worlds/$world/deployments/$deployment/${place}`}
          params={of}
          {...(place === 'live' && { search: { entries: 'failed' as const } })}
          className="link font-medium"
        >
          {words}
        </Link>
        {why && <p className="mt-0.5 line-clamp-3 text-sm">{why}</p>}
      </li>
    ))}
  </ul>
);
