import './_two-workers.ts';
import './_from-outside.ts';
