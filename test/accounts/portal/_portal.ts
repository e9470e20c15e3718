import test from 'ava';
import {portalOf} from '../../helpers/portal.ts';

/** For files whose tests have organizations of their own, and run serially where they move the clock. */
export const portal = portalOf(test);
