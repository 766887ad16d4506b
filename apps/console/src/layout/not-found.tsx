import { ButtonLink } from '../ui/button.js';
import { Empty } from '../ui/empty.js';
import { Page } from '../ui/page.js';

export const NotFound = () => (
  <Page title="There is no such page">
    <Empty title="Nothing has this address." action={<ButtonLink to="/">To the worlds</ButtonLink>}>
      The link may be mistyped, or what it led to was deleted.
    </Empty>
  </Page>
);
