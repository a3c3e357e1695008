// English, for the panel of a lesson.

export const lesson = {
  "lesson.title": "Lesson",
  "lesson.step": "Step {n} of {all}",
  "lesson.close": "Close the lesson",
  "lesson.chosen": "{node}, chosen on the map",
  "lesson.chooseNode": "Choose a node on the map, or in its table (press t there).",
  "lesson.number": "A whole number",
  "lesson.place": "Place of {name}",
  "lesson.answer": "Answer",
  "lesson.showMe": "Show me",
  "lesson.show": "Show what happens",
  "lesson.right": "Right",
  "lesson.wrong": "Not so",
  "lesson.theAnswer": "The answer",
  "lesson.atWork": "The scheduler is at work.",
  "lesson.next": "Next step",
  "lesson.skip": "Skip this step",
  "lesson.before": "Step before",
  "lesson.look": "Back to this moment",
  "lesson.try": "Try it on the lesson's page",
  "lesson.list": "All lessons",
} as const;
