import { Link } from '@tanstack/react-router';
import { useDeploymentRef } from '../api/deployments.js';

/** Leads to an entry of the journal in the live page; a dash where there is none. */
export function EntryLink({ seq, children }: { seq: number | null; children?: string }) {
  const params = useDeploymentRef();
  if (seq === null) return '–';
  return (
    <Link
      to="/worlds/$world/deployments/$deployment/live"
      params={params}
      search={{ seq }}
      className="link"
      aria-label={children ?? `Entry ${seq} in the live page`}
    >
      {children ?? seq}
    </Link>
  );
}
