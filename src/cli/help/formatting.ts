export const formattingTopic = `Data goes to standard output, everything else (notes, questions, progress,
errors) to standard error, so that the output of a command can be kept or piped.

Without --json the output is for people: one line per field, or a table. On a
terminal it fits the width: long texts are cut with an ellipsis, ids never are.
Without a terminal nothing is cut. The wording may change between versions.

With --json the output is the unchanged answer of the API: an object, or for a
list {"data", "total", "page", "limit"}, with all pages merged with
--all. Fields are only ever added. Commands without an API answer (config,
doctor, profiles, completion) print the same facts as JSON.

  $ oplink orgs list --json | jq -r '.data[] | [.orgKey, .name] | @tsv'
  $ oplink links list --org Ab12 --all --json | jq '.data | length'

links export writes the links as NDJSON, JSON or CSV, as --format says; --json
does not change that.

Colour and animation appear on a terminal only, and never with NO_COLOR or with
TERM=dumb. Times are in UTC, in the form of ISO 8601.`;
