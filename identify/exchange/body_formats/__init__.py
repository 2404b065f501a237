"""Bodies as other programs print them: texts of CAD programs, settings of controllers, own files.

`registry.BODY_FORMATS` lists them; `registry.read_body_text` recognises a text by its content.
"""
