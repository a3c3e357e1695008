"""What an editor may offer while one writes: fields with types, defaults and descriptions.

Made when kviz is built (`python -m kviz.editor_schema FOLDER`), from the models of the `kubernetes`
client and the types of the engine; neither is loaded by a server for this.
"""
