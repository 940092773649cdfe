import { testStories } from './stories.ts';

testStories(11, 21);
