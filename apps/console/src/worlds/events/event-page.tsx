import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { versionsQuery } from '../../api/events.js';
import { useOrrery } from '../../session/use-session.js';
import { Await } from '../../ui/await.js';
import { Badge } from '../../ui/badge.js';
import { JsonView } from '../../ui/json-view.js';
import { Page, Section } from '../../ui/page.js';

export function EventPage() {
  const { world, event } = useParams({ from: '/worlds/$world/events/$event' });
  const query = useQuery(versionsQuery(useOrrery(), world, event));
  return (
    <Page title={event} beside={<Badge>event</Badge>}>
      <Await query={query} what="the versions">
        {({ data }) =>
          data.map((version) => (
            <Section key={version.version} title={`Version ${version.version}`}>
              <JsonView value={version} label={`Definition of version ${version.version}`} />
            </Section>
          ))
        }
      </Await>
    </Page>
  );
}
