import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('bank', '0007_wikis'),
    ]

    operations = [
        migrations.CreateModel(
            name='PageVector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=200)),
                ('dimension', models.PositiveIntegerField()),
                ('text_sha', models.CharField(max_length=64)),
                ('indexed_at', models.DateTimeField()),
                ('vector', models.BinaryField()),
                ('page', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='vectors', to='bank.page')),
            ],
            options={
                'indexes': [models.Index(fields=['page', 'model', 'dimension', 'text_sha'], name='page_vector_state')],
                'constraints': [models.UniqueConstraint(fields=('page', 'model'), name='one_page_vector_a_model')],
            },
        ),
    ]
